/** Compares a server's answer with what a parser reads here: SGLang drops calls and text without a message. */
import type { TextRange } from '#lib/parsers/parser.ts'
import type { ParsedCallResult, ParserReading } from './analysis.ts'

/** The calls and the text of a server; `arguments` is JSON. */
export interface ServerAnswer {
  readonly normalText: string
  readonly calls: readonly { readonly name?: string | undefined; readonly arguments: string }[]
}

/** A server's calls, compared with those that are read here. */
export interface ServerView {
  readonly calls: readonly ServerCall[]
  /** Ranges of the text that is in neither its calls nor the text that it returns. */
  readonly dropped: readonly TextRange[]
}

/** A call of the server. */
export interface ServerCall {
  readonly name: string | undefined
  readonly arguments: string
  /** same: it is read here too. other: a call of this name is read here, with other arguments. server-only: it is not read here. */
  readonly verdict: 'same' | 'other' | 'server-only'
}

/** Compares a server's answer with the calls of a lane. */
export function serverView(text: string, lane: ParserReading, { normalText, calls }: ServerAnswer): ServerView {
  const paired = pairs(lane.calls, calls)
  const pairedCalls = new Set(paired.flatMap(({ own }) => (own ? [own] : [])))
  const parts = callsAndTexts(lane).filter(({ call }) => call === undefined || !pairedCalls.has(call))
  let from = 0
  const dropped = parts.flatMap(({ start, end }): TextRange[] => {
    const written = text.slice(start, end)
    const trimmed = written.trim()
    if (trimmed === '') return []
    const at = normalText.indexOf(trimmed, from)
    if (at < 0) {
      const lead = written.length - written.trimStart().length
      return [{ start: start + lead, end: start + lead + trimmed.length }]
    }
    from = at + trimmed.length
    return []
  })
  return { calls: paired.map(({ own: _, ...call }) => call), dropped }
}

/** Returns the calls and the text between them. */
function callsAndTexts({ calls, tiles }: ParserReading): readonly (TextRange & { readonly call?: ParsedCallResult })[] {
  const parts: (TextRange & { call?: ParsedCallResult })[] = []
  let at = 0
  for (const call of calls) {
    parts.push({ start: at, end: call.span.start }, { ...call.span, call })
    at = call.span.end
  }
  parts.push({ start: at, end: tiles.at(-1)?.end ?? 0 })
  return parts
}

/** Pairs each of the server's calls with our next call of the same name; both are in order. */
function pairs(
  own: readonly ParsedCallResult[],
  theirs: ServerAnswer['calls'],
): readonly (ServerCall & { readonly own: ParsedCallResult | undefined })[] {
  let next = 0
  return theirs.map(({ name, arguments: json }) => {
    const at = own.findIndex((call, index) => index >= next && call.kind === 'parsed' && call.name === name)
    const call = at < 0 ? undefined : own[at]
    if (call?.kind !== 'parsed') return { name, arguments: json, verdict: 'server-only', own: undefined }
    next = at + 1
    const read = Object.fromEntries(call.arguments.map((argument) => [argument.name, JSON.parse(argument.json)]))
    return {
      name,
      arguments: json,
      verdict: canonical(read) === canonical(readOrSelf(json)) ? 'same' : 'other',
      own: call,
    }
  })
}

/** Returns the value of JSON, and any other text unchanged. */
function readOrSelf(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

/** Returns JSON with sorted keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
