/**
 * Reads a reply in the parts that its client gets. A stream is read with the same function again and again, and only what no further token
 * can change is passed on.
 */
import { textForParsers } from '#lib/parsers/parsed-text.ts'
import { spellingsOf, type ToolParser } from '#lib/parsers/parser.ts'
import { THINK_FORMS } from '#lib/parsers/thinking-forms.ts'
import { writtenReply } from '#lib/rollout/prompt/written-reply.ts'
import { annotations } from '#lib/rollout/record/record.ts'
import type { ReplyDelta, ReplyPart } from '#lib/session/call.ts'
import { callDeltas, type PlacedPart, placedParts } from '#lib/session/protocols/reply-parts.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { LiveTrajectory } from '#lib/trajectory/events/events.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { tokensAt } from '#lib/trajectory/tokens/pieces.ts'

/** How the reply to a call is read. */
export interface ReplyReading {
  /** Which calls the client gets: all, the first one, or none, so that they are text. */
  readonly calls: 'all' | 'first' | 'none'
  /** Texts that end a reply and are no part of it. */
  readonly stops: readonly string[]
  /** Whether texts name their tokens. Omitted: they do not. */
  readonly hasSpans?: boolean
}

/** Returns the parts of a response. `trajectory` has its vocabulary, its model and the segments before it. */
export const partsOfReply = (
  segment: ResponseSegment,
  trajectory: Trajectory,
  reading: ReplyReading,
): readonly ReplyPart[] => withSpans(placedPartsOf(segment, trajectory, reading), segment, trajectory, reading)

function placedPartsOf(
  segment: ResponseSegment,
  trajectory: Trajectory,
  { calls, stops }: ReplyReading,
): readonly PlacedPart[] {
  const written = writtenReply(segment, trajectory)
  const parts = placedParts({
    ...written,
    text: withoutStop(written.text, segment, stops),
    ...(calls === 'none' && { calls: [], markup: written.markup.filter(({ kind }) => kind === 'between') }),
  })
  if (calls !== 'first') return parts
  const first = parts.find(({ part }) => part.kind === 'call')
  return parts.filter((placed) => placed.part.kind !== 'call' || placed === first)
}

/** Returns parts whose texts name their tokens, if the client wants their logprobs. */
function withSpans(
  parts: readonly PlacedPart[],
  segment: ResponseSegment,
  trajectory: Trajectory,
  { hasSpans = false }: ReplyReading,
): readonly ReplyPart[] {
  if (!hasSpans) return parts.map(({ part }) => part)
  const { starts } = textForParsers(segment, trajectory, [])
  return parts.map(({ part, range }) =>
    part.kind === 'text' ? { ...part, tokens: tokensAt(starts, range.start, range.end) } : part,
  )
}

/** Returns a text without the stop text at its end. The server kept the tokens of the stop text, because the model sampled them. */
function withoutStop(text: string, { finish }: ResponseSegment, stops: readonly string[]): string {
  if (finish?.kind !== 'stop' || typeof finish.matched === 'number') return text
  const ends = finish.matched === undefined ? stops : [finish.matched]
  const at = Math.max(-1, ...ends.map((stop) => text.lastIndexOf(stop)))
  return at < 0 ? text : text.slice(0, at)
}

/** What gives the tokens of a stream their meaning. */
export interface StreamReader {
  readonly parser: ToolParser
  readonly tokenizer: Tokenizer
  readonly reading: ReplyReading
}

type PartDelta = Extract<ReplyDelta, { kind: 'reasoning' | 'text' | 'call' | 'arguments' }>

/** The parts of one growing reply. */
export interface PartStream {
  /** Returns what is new and final in the response that is open in a trajectory. */
  read(trajectory: LiveTrajectory): readonly PartDelta[]
  /** Returns the rest of the parts of the closed response. */
  end(parts: readonly ReplyPart[]): readonly PartDelta[]
}

/** A reply is read again when it has grown by this fraction, so that reading all of it takes linear time. */
const GROWTH = 32

/** Creates the stream of one of the replies to a call. */
export function createPartStream(choice: number, { parser, tokenizer, reading }: StreamReader): PartStream {
  const openers = openersOf(parser, reading)
  let next = 0
  /** The parts that the client has, of which the last one may grow. */
  const sent: ReplyPart[] = []
  const bring = (parts: readonly ReplyPart[]): PartDelta[] => {
    if (!sent.every((part, index) => continues(part, parts[index], index === sent.length - 1))) return []
    const deltas: PartDelta[] = []
    for (const [index, part] of parts.entries()) {
      const before = sent[index]
      if (part.kind === 'call') {
        if (before) continue
        const call = sent.filter(({ kind }) => kind === 'call').length
        deltas.push(...callDeltas(choice, call, part))
      } else {
        const known = before && before.kind !== 'call' ? before : undefined
        const length = known?.text.length ?? 0
        // A token that two pieces share belongs to the first one.
        const tokens = part.tokens && { start: known?.tokens?.end ?? part.tokens.start, end: part.tokens.end }
        if (part.text.length > length)
          deltas.push({ kind: part.kind, choice, text: part.text.slice(length), ...(tokens && { tokens }) })
      }
      sent[index] = part
    }
    return deltas
  }
  return {
    read(trajectory) {
      const open = trajectory.live?.open
      if (open?.kind !== 'response' || open.ids.length < next) return []
      next = open.ids.length + Math.max(1, Math.floor(open.ids.length / GROWTH))
      const read = { ...open, ...annotations(open, trajectory, parser, tokenizer) }
      return bring(withSpans(finalParts(placedPartsOf(read, trajectory, reading), openers), read, trajectory, reading))
    },
    end: bring,
  }
}

/** Returns whether a part of a later reading is the sent one, or continues it if it is the last. */
function continues(sent: ReplyPart, later: ReplyPart | undefined, isLast: boolean): boolean {
  if (later === undefined || sent.kind !== later.kind) return false
  if (sent.kind === 'call' || later.kind === 'call') return JSON.stringify(sent) === JSON.stringify(later)
  return isLast ? later.text.startsWith(sent.text) : later.text === sent.text
}

/**
 * Returns the parts that further tokens leave unchanged, except that the last one may grow. What is written from the first call on waits for
 * the end of the reply: in some formats, later tokens decide where a call ends.
 */
function finalParts(parts: readonly PlacedPart[], openers: readonly string[]): readonly PlacedPart[] {
  const final: PlacedPart[] = []
  for (const [index, { part, range }] of parts.entries()) {
    if (part.kind === 'call') return final
    const isLast = index === parts.length - 1
    // A character of several bytes may have arrived in part.
    const arrived = isLast ? part.text.replace(/\uFFFD+$/, '') : part.text
    const opens = openers.map((opener) => arrived.indexOf(opener)).filter((at) => at >= 0)
    const end =
      opens.length > 0
        ? Math.min(...opens)
        : isLast
          ? arrived.length - beginningAtEnd(arrived, openers)
          : arrived.length
    const text = end === part.text.length && !isLast ? arrived : arrived.slice(0, end).trimEnd()
    const cut = part.text.length - text.length
    if (text !== '') final.push({ part: { ...part, text }, range: { ...range, end: range.end - cut } })
    if (text.length < part.text.length) return final
  }
  return final
}

/** Returns the length of the longest end of a text that may become one of the openers. */
function beginningAtEnd(text: string, openers: readonly string[]): number {
  let longest = 0
  for (const opener of openers)
    for (let length = Math.min(opener.length - 1, text.length); length > longest; length--)
      if (text.endsWith(opener.slice(0, length))) longest = length
  return longest
}

/** Returns the texts from which on a text may become reasoning, a call, or nothing. */
const openersOf = (parser: ToolParser, { calls, stops }: ReplyReading): readonly string[] => {
  const ofCalls = spellingsOf(parser.delimiters).flatMap(({ open, section, around = [] }) => [
    open,
    ...(section ? [section.open] : []),
    ...around,
  ])
  const all = [...THINK_FORMS.flatMap(({ marks }) => marks), ...(calls === 'none' ? [] : ofCalls), ...stops]
  return [...new Set(all)].filter((opener) => opener !== '')
}
