/** A JSON object between delimiters, as hermes and kimi_k2 write it. */
import { type Marks, malformedEnd } from './calls.ts'
import { type Member, type ObjectScan, scanObject, skipSpace } from './json-scan.ts'

type JsonBody =
  | { readonly ok: true; readonly start: number; readonly members: readonly Member[]; readonly close: number }
  | {
      readonly ok: false
      /** Where it went wrong: the end of the call is to be sought from there on. */
      readonly at: number
      readonly why: string
    }

/** Reads the object at `start` and finds the closing delimiter behind it (`close`: its offset). */
export type JsonBodyReader = (start: number) => JsonBody

/** `what`: how the object is called in an error, "the call" for example. */
export function jsonBodyReader(text: string, closer: string, marks: Marks, what: string): JsonBodyReader {
  // A body that is cut inside a string may go on: its delimiter is then text of an argument. Reading on costs what the
  // rest of the text is long, so it is bounded over the whole parse.
  let readingOn = 2 * text.length
  return (start) => {
    const close = marks.nextClose(start)
    const scan = scanBody(text, start, close < 0 ? text.length : close, what)
    if (scan.ok) return closed(text, start, scan, closer, marks)
    if (scan.kind === 'inside-string' && close >= 0 && readingOn > 0) {
      const longer = scanBody(text, start, text.length, what)
      readingOn -= (longer.ok ? longer.end : longer.at) - close
      const body = longer.ok ? closed(text, start, longer, closer, marks) : undefined
      if (body?.ok) return body
    }
    return { ok: false, at: scan.at, why: scan.kind === 'inside-string' ? 'a string is not closed' : scan.why }
  }
}

function closed(
  text: string,
  start: number,
  { end, members }: Extract<ObjectScan, { ok: true }>,
  closer: string,
  marks: Marks,
): JsonBody {
  const close = skipSpace(text, end, text.length)
  if (text.startsWith(closer, close)) return { ok: true, start: skipSpace(text, start, end), members, close }
  const { isClosed } = malformedEnd(text, end, marks)
  return {
    ok: false,
    at: end,
    why: isClosed ? `something stands between the JSON and ${closer}` : `the call is not closed: no ${closer} follows`,
  }
}

function scanBody(text: string, start: number, limit: number, what: string): ObjectScan {
  const brace = skipSpace(text, start, limit)
  if (brace < limit && text[brace] === '{') return scanObject(text, brace, limit)
  return {
    ok: false,
    at: brace,
    why:
      brace < limit
        ? `${what} is not a JSON object: it starts with ${JSON.stringify(text[brace])}`
        : `${what} is empty`,
    kind: 'syntax',
  }
}
