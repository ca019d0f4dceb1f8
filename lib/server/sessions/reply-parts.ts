/**
 * Reads a reply in the parts that its client gets. A stream is read with the same function again and again, and only what no further token
 * can change is passed on.
 */
import { growingCalls, mayBeMarkup } from '#lib/parsers/growing-calls.ts'
import { spellingsOf, type ToolParser } from '#lib/parsers/parser.ts'
import { THINK_FORMS } from '#lib/parsers/thinking-forms.ts'
import { type DecodedReply, type WrittenReply, writtenReply } from '#lib/rollout/prompt/written-reply.ts'
import { annotations, type NewCallIds } from '#lib/rollout/record/record.ts'
import type { ReplyDelta, ReplyPart } from '#lib/session/call.ts'
import { joinReplyParts, type ReplyFragment, replyFragments } from '#lib/session/protocols/reply-parts.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { LiveTrajectory } from '#lib/trajectory/events/events.ts'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { tokensAt } from '#lib/trajectory/tokens/pieces.ts'
import { isSpecial } from '#lib/trajectory/tokens/tokens.ts'

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
export function partsOfReply(
  segment: ResponseSegment,
  trajectory: Trajectory,
  reading: ReplyReading,
): readonly ReplyPart[] {
  const written = writtenOf(segment, trajectory, reading)
  return partsFrom(fragmentsOf(written, reading), written, reading)
}

/** Returns the text of a response with its ranges, as it is read. */
function writtenOf(segment: ResponseSegment, trajectory: Trajectory, { calls, stops }: ReplyReading): DecodedReply {
  const written = writtenReply(segment, trajectory)
  return {
    ...written,
    text: withoutStop(written, segment, stops),
    ...(calls === 'none' && { calls: [], markup: written.markup.filter(({ kind }) => kind === 'between') }),
  }
}

function fragmentsOf(written: WrittenReply, { calls }: ReplyReading): readonly ReplyFragment[] {
  const fragments = replyFragments(written)
  if (calls !== 'first') return fragments
  const first = fragments.find(({ part }) => part.kind === 'call')
  return fragments.filter((fragment) => fragment.part.kind !== 'call' || fragment === first)
}

/** Returns the parts of which these are the fragments. Texts name their tokens if the client wants their logprobs. */
const partsFrom = (
  fragments: readonly ReplyFragment[],
  written: DecodedReply,
  { hasSpans = false }: ReplyReading,
): readonly ReplyPart[] =>
  joinReplyParts(
    fragments.map(({ part, range }) =>
      hasSpans && part.kind === 'text' ? { ...part, tokens: tokensAt(written, range.start, range.end) } : part,
    ),
  )

/** Returns a text without the stop text at its end. The server kept the tokens of the stop text, because the model sampled them. */
function withoutStop({ text, starts }: DecodedReply, { finish }: ResponseSegment, stops: readonly string[]): string {
  if (finish?.kind !== 'stop' || typeof finish.matched === 'number') return text
  const ends = finish.matched === undefined ? stops : [finish.matched]
  const lastToken = starts.at(-2) ?? 0
  // The last token may have more than the end of the stop text, and contain it again: ### has ## twice.
  const completed = ends.map((stop) => text.indexOf(stop, lastToken - stop.length + 1)).filter((at) => at >= 0)
  const at = completed.length > 0 ? Math.min(...completed) : Math.max(-1, ...ends.map((stop) => text.lastIndexOf(stop)))
  return at < 0 ? text : text.slice(0, at)
}

/** What gives the tokens of a stream their meaning. */
export interface StreamReader {
  readonly parser: ToolParser
  readonly tokenizer: Tokenizer
  readonly reading: ReplyReading
  /** The ids that the calls of the closed response have too. */
  readonly newCallIds: NewCallIds
}

type PartDelta = Extract<ReplyDelta, { kind: 'reasoning' | 'text' | 'call' | 'arguments' }>

/** The parts of one growing reply. */
export interface PartStream {
  /** Returns what is new and final in the response that is open in a trajectory. */
  read(trajectory: LiveTrajectory): readonly PartDelta[]
  /**
   * Returns the rest of the parts of the closed response, and the parts that the client has then. Those are the given ones, unless a call that
   * was begun turned out to be malformed.
   */
  end(parts: readonly ReplyPart[]): { readonly deltas: readonly PartDelta[]; readonly parts: readonly ReplyPart[] }
}

/** A reply is read again when it has grown by this fraction, so that reading all of it takes linear time. */
const GROWTH = 32

/** Creates the stream of one of the replies to a call. */
export function createPartStream(choice: number, { parser, tokenizer, reading, newCallIds }: StreamReader): PartStream {
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
        const { id, name, arguments: all } = part
        const call = sent.slice(0, index).filter(({ kind }) => kind === 'call').length
        const length = before?.kind === 'call' ? before.arguments.length : 0
        if (!before) deltas.push({ kind: 'call', choice, call, id, name })
        if (all.length > length) deltas.push({ kind: 'arguments', choice, call, text: all.slice(length) })
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
  /** Returns the calls that the text begins where its final parts end. */
  const growing = (start: number, written: WrittenReply, segment: ResponseSegment, trajectory: Trajectory) => {
    // A stop text may cut arguments.
    if (reading.calls === 'none' || reading.stops.length > 0) return []
    const { tools } = trajectory.model
    const text = wholeCharacters(written.text)
    const calls = growingCalls(parser, { text, start, shielded: written.thinks, tools }).slice(
      0,
      reading.calls === 'first' ? 1 : undefined,
    )
    return calls.flatMap(({ name, arguments: all }, index): readonly ReplyPart[] => {
      // Without an id, the parser does not see the call yet.
      const id = segment.toolCalls[index]?.id
      return id === undefined ? [] : [{ kind: 'call', id, name, arguments: all }]
    })
  }
  return {
    read(trajectory) {
      const open = trajectory.live?.open
      if (open?.kind !== 'response' || open.ids.length < next) return []
      next = open.ids.length + Math.max(1, Math.floor(open.ids.length / GROWTH))
      const segment = withStopToken(open, trajectory)
      const read = { ...segment, ...annotations(segment, trajectory, parser, tokenizer, newCallIds) }
      const written = writtenOf(read, trajectory, reading)
      const decided = beforeDecision(fragmentsOf(written, reading), written, read)
      const { fragments, callsFrom } = finalFragments(decided, openers, parser)
      const texts = partsFrom(fragments, written, reading)
      return bring(callsFrom === undefined ? texts : [...texts, ...growing(callsFrom, written, read, trajectory)])
    },
    end: (parts) => ({ deltas: bring(parts), parts: sent }),
  }
}

/** Returns a growing response as if it ended here, if it may: a stop token is in no text, and any special token may be one. */
function withStopToken(open: ResponseSegment, trajectory: Trajectory): ResponseSegment {
  const last = open.ids.at(-1)
  return last !== undefined && isSpecial(trajectory, last) ? { ...open, finish: { kind: 'stop', matched: last } } : open
}

/** Returns whether a part of a later reading is the sent one, or continues it if it is the last. */
function continues(sent: ReplyPart, later: ReplyPart | undefined, isLast: boolean): boolean {
  if (later === undefined || sent.kind !== later.kind) return false
  if (sent.kind === 'call' || later.kind === 'call') {
    if (sent.kind !== 'call' || later.kind !== 'call' || sent.id !== later.id || sent.name !== later.name) return false
    return isLast ? later.arguments.startsWith(sent.arguments) : later.arguments === sent.arguments
  }
  return isLast ? later.text.startsWith(sent.text) : later.text === sent.text
}

/**
 * Returns the fragments that a delimiter cannot still turn into thinking. A call ends a think block only if nothing closes it, which shows when
 * the reply has ended.
 */
function beforeDecision(
  fragments: readonly ReplyFragment[],
  { thinks }: WrittenReply,
  segment: ResponseSegment,
): readonly ReplyFragment[] {
  const unclosed = thinks[segment.thinks.findIndex(({ closed }) => !closed)]
  return unclosed ? fragments.filter(({ range }) => range.start < unclosed.end) : fragments
}

interface FinalFragments {
  readonly fragments: readonly ReplyFragment[]
  /** Offset of the first call, whole or begun. Undefined: the text has none yet, or something else begins there. */
  readonly callsFrom?: number
}

/**
 * Returns the fragments before the first call that further tokens leave unchanged, except that the last one may grow. In some formats, later
 * tokens decide where a call ends.
 */
function finalFragments(
  fragments: readonly ReplyFragment[],
  openers: readonly string[],
  parser: ToolParser,
): FinalFragments {
  const final: ReplyFragment[] = []
  for (const [index, { part, range }] of fragments.entries()) {
    if (part.kind === 'call') return { fragments: final, callsFrom: range.start }
    const isLast = index === fragments.length - 1
    const arrived = isLast ? wholeCharacters(part.text) : part.text
    const isBare =
      part.kind === 'text' && final.every((one) => one.part.kind !== 'text') && mayBeMarkup(parser, arrived)
    const opens = isBare ? [0] : openers.map((opener) => arrived.indexOf(opener)).filter((at) => at >= 0)
    const end =
      opens.length > 0
        ? Math.min(...opens)
        : isLast
          ? arrived.length - beginningAtEnd(arrived, openers)
          : arrived.length
    const text = end === part.text.length && !isLast ? arrived : arrived.slice(0, end).trimEnd()
    const inReply = (length: number) => range.end - (part.text.length - length)
    if (text !== '') final.push({ part: { ...part, text }, range: { ...range, end: inReply(text.length) } })
    if (text.length < part.text.length)
      return { fragments: final, ...(opens.length > 0 && part.kind === 'text' && { callsFrom: inReply(end) }) }
  }
  return { fragments: final }
}

/** Returns a text without a character of several bytes at its end that may have arrived in part. */
const wholeCharacters = (text: string): string => text.replace(/\uFFFD+$/, '')

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
