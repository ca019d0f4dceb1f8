/** A server's answer beside what a parser here reads: SGLang drops calls and text without a word. */
import type { TextRange } from '#lib/parsers/parser.ts'
import type { Lane, ReadCall } from './analysis.ts'

/** The server's calls and text; `arguments` is JSON. */
export interface ServerAnswer {
  readonly normalText: string
  readonly calls: readonly { readonly name?: string | undefined; readonly arguments: string }[]
}

export interface ServerView {
  readonly calls: readonly ServerCall[]
  /** Where the text stands that is in neither its calls nor the text that it leaves. */
  readonly dropped: readonly TextRange[]
}

export interface ServerCall {
  readonly name: string | undefined
  readonly arguments: string
  /** same: as read here. other: of the same name with other arguments. alone: not read here at all. */
  readonly verdict: 'same' | 'other' | 'alone'
}

export function serverView(text: string, lane: Lane, { normalText, calls }: ServerAnswer): ServerView {
  const paired = pairs(lane.calls, calls)
  const kept = new Set(paired.flatMap(({ own }) => (own ? [own] : [])))
  const stretches = stretchesOf(lane).filter(({ call }) => call === undefined || !kept.has(call))
  let from = 0
  const dropped = stretches.flatMap(({ start, end }): TextRange[] => {
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

/** Calls, and what stands between them. */
function stretchesOf({ calls, tiles }: Lane): readonly (TextRange & { readonly call?: ReadCall })[] {
  const stretches: (TextRange & { call?: ReadCall })[] = []
  let at = 0
  for (const call of calls) {
    stretches.push({ start: at, end: call.span.start }, { ...call.span, call })
    at = call.span.end
  }
  stretches.push({ start: at, end: tiles.at(-1)?.end ?? 0 })
  return stretches
}

/** Each of the server's calls with ours: the next of the same name, for both are in order. */
function pairs(
  own: readonly ReadCall[],
  theirs: ServerAnswer['calls'],
): readonly (ServerCall & { readonly own: ReadCall | undefined })[] {
  let next = 0
  return theirs.map(({ name, arguments: json }) => {
    const at = own.findIndex((call, index) => index >= next && call.kind === 'parsed' && call.name === name)
    const call = at < 0 ? undefined : own[at]
    if (call?.kind !== 'parsed') return { name, arguments: json, verdict: 'alone', own: undefined }
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

/** A text that is no JSON stands for itself. */
function readOrSelf(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}

/** JSON with its keys in one order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  )
