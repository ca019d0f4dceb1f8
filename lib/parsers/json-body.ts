/** JSON objects in a text: between delimiters, as most formats write them, or up to where something else begins. */
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
  const read = objectReader(text, marks.nextClose, what)
  return (start) => {
    const scan = read(start, (longer) => closed(text, start, longer, closer, marks).ok)
    return scan.ok ? closed(text, start, scan, closer, marks) : { ok: false, at: scan.at, why: scan.why }
  }
}

export type WholeObject = Extract<ObjectScan, { ok: true }>

/**
 * Reads the object at a place, up to the next bound. A string that is cut there may go on: the bound is then text of it,
 * where what is read so is accepted.
 */
export function objectReader(
  text: string,
  nextBound: (from: number) => number,
  what: string,
): (start: number, accepts: (longer: WholeObject) => boolean) => ObjectScan {
  // Reading on costs what the rest of the text is long, so it is bounded over the whole parse.
  let readingOn = 2 * text.length
  return (start, accepts) => {
    const bound = nextBound(start)
    const scan = scanBody(text, start, bound < 0 ? text.length : bound, what)
    if (scan.ok || scan.kind !== 'inside-string') return scan
    if (bound >= 0 && readingOn > 0) {
      const longer = scanBody(text, start, text.length, what)
      readingOn -= (longer.ok ? longer.end : longer.at) - bound
      if (longer.ok && accepts(longer)) return longer
    }
    return { ...scan, why: 'a string is not closed' }
  }
}

function closed(text: string, start: number, { end, members }: WholeObject, closer: string, marks: Marks): JsonBody {
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
