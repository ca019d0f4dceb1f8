/** Converts between a reply as the record has it, its parts and the deltas of a stream. */
import type { TextRange } from '#lib/parsers/parser.ts'
import { compactArguments } from '#lib/parsers/reading/written-arguments.ts'
import { thoughtIn } from '#lib/parsers/thinking.ts'
import type { WrittenReply } from '#lib/rollout/prompt/written-reply.ts'
import type { ArrivedTokens } from '#lib/rollout/record/record.ts'
import { strip, trimEnd, trimStart } from '#lib/templates/jinja/python/text/code-points.ts'
import type { Span, ToolCall, TopLogprobs } from '#lib/trajectory/format/trajectory.ts'
import type { ReplyDelta, ReplyPart, SessionReply } from '../call.ts'

/** Separates think blocks in the reasoning of a message. */
export const BETWEEN_THOUGHTS = '\n'

type ParsedToolCall = Extract<ToolCall, { kind: 'parsed' }>

/** A part of a reply, or as much of it as nothing interrupts, and its range in the text of the reply. */
export interface ReplyFragment {
  readonly part: ReplyPart
  readonly range: TextRange
}

/**
 * Returns the parts of a reply in the order of its text, in fragments that `joinReplyParts` joins. Think delimiters, parsed calls and the markup
 * around them are in no text; a malformed call stays text. White space between parts belongs to the text after it, but not to its range, and
 * none is at the ends: all texts together are the content of the message that replyTexts returns for the same reply.
 */
export function replyFragments(written: WrittenReply): readonly ReplyFragment[] {
  const fragments: ReplyFragment[] = []
  let space = ''
  let hasText = false
  const addText = (from: number, to: number): void => {
    const all = space + written.text.slice(from, Math.max(from, to))
    const text = trimEnd(hasText ? all : trimStart(all))
    space = hasText || text !== '' ? all.slice(trimEnd(all).length) : ''
    if (text === '') return
    hasText = true
    const end = Math.max(from, to) - space.length
    fragments.push({ part: { kind: 'text', text }, range: { start: Math.max(from, end - text.length), end } })
  }
  let at = 0
  for (const { range, part } of cutsOf(written)) {
    addText(at, range.start)
    at = Math.max(at, range.end)
    if (!part) continue
    const isFurther = part.kind === 'reasoning' && fragments.at(-1)?.part.kind === 'reasoning'
    fragments.push({ part: isFurther ? { ...part, text: BETWEEN_THOUGHTS + part.text } : part, range })
  }
  addText(at, written.text.length)
  return fragments
}

/** Returns the parts of which these are fragments: adjacent texts of the same kind are one part. */
export function joinReplyParts(fragments: readonly ReplyPart[]): readonly ReplyPart[] {
  const parts: ReplyPart[] = []
  for (const fragment of fragments) {
    const last = parts.at(-1)
    if (last && fragment.kind !== 'call' && last.kind === fragment.kind)
      parts[parts.length - 1] = joinedText(last, fragment)
    else parts.push(fragment)
  }
  return parts
}

type TextPart = Exclude<ReplyPart, { kind: 'call' }>

/** Returns the part that two texts of one kind are. */
const joinedText = (first: TextPart, second: TextPart): TextPart => ({
  kind: second.kind,
  text: first.text + second.text,
  ...(first.tokens && second.tokens && { tokens: { start: first.tokens.start, end: second.tokens.end } }),
})

interface Cut {
  readonly range: TextRange
  /** Undefined for markup and empty think blocks. */
  readonly part: ReplyPart | undefined
}

/** Returns the ranges that are no text, in order. Tags around calls that stay in the text stay with them. */
function cutsOf({ text, thinks, calls, markup }: WrittenReply): readonly Cut[] {
  const parsed = calls.filter((call): call is ParsedToolCall => call.kind === 'parsed')
  return [
    ...thinks.map((range): Cut => {
      const thought = thoughtOf(text, range)
      return { range, part: thought === '' ? undefined : { kind: 'reasoning', text: thought } }
    }),
    ...parsed.map((call): Cut => ({ range: call.text, part: callPart(call, text) })),
    ...markup.flatMap((range): readonly Cut[] =>
      parsed.length > 0 || range.kind === 'between' ? [{ range, part: undefined }] : [],
    ),
  ].sort((a, b) => a.range.start - b.range.start)
}

/** Returns the text of a think block without its delimiters and the white space next to them. */
const thoughtOf = (text: string, { start, end }: TextRange): string => strip(thoughtIn(strip(text.slice(start, end))))

const callPart = (call: ParsedToolCall, text: string): ReplyPart => ({
  kind: 'call',
  id: call.id,
  name: call.name,
  arguments: compactArguments(call, text),
})

/** Returns the deltas of parts, for a stream of a reply that arrived whole. */
function partDeltas(choice: number, parts: readonly ReplyPart[]): readonly ReplyDelta[] {
  let call = -1
  return parts.flatMap((part): readonly ReplyDelta[] => {
    if (part.kind !== 'call') return [{ ...part, choice }]
    call++
    return [
      { kind: 'call', choice, call, id: part.id, name: part.name },
      { kind: 'arguments', choice, call, text: part.arguments },
    ]
  })
}

/** Returns all deltas of a whole reply. */
export const replyDeltas = ({ choices, usage }: SessionReply): readonly ReplyDelta[] => [
  ...choices.flatMap(({ parts, tokens, finish }, choice): readonly ReplyDelta[] => [
    { kind: 'tokens', choice, tokens },
    ...partDeltas(choice, parts),
    { kind: 'finish', choice, finish },
  ]),
  { kind: 'usage', usage },
]

/** Returns some tokens of a reply. */
export const sliceTokens = (
  { ids, logprobs, topLogprobs: top }: ArrivedTokens,
  { start, end }: Span,
): ArrivedTokens => ({
  ids: ids.slice(start, end),
  ...(logprobs && { logprobs: logprobs.slice(start, end) }),
  ...(top && {
    topLogprobs: {
      k: top.k,
      ids: top.ids.slice(start * top.k, end * top.k),
      logprobs: top.logprobs.slice(start * top.k, end * top.k),
    },
  }),
})

/** Returns the tokens of all pieces. Logprobs that a piece lacks are unknown. */
export function joinedTokens(pieces: readonly ArrivedTokens[]): ArrivedTokens {
  const ids = pieces.flatMap((piece) => piece.ids)
  const hasLogprobs = pieces.some(({ logprobs }) => logprobs)
  const topLogprobs = joinedTop(pieces)
  return {
    ids,
    ...(hasLogprobs && { logprobs: pieces.flatMap((piece) => piece.logprobs ?? piece.ids.map(() => null)) }),
    ...(topLogprobs && { topLogprobs }),
  }
}

function joinedTop(pieces: readonly ArrivedTokens[]): TopLogprobs | undefined {
  const k = Math.max(0, ...pieces.map(({ topLogprobs }) => topLogprobs?.k ?? 0))
  if (k === 0) return undefined
  const rows = pieces.flatMap(({ ids, topLogprobs: top }) =>
    ids.map((_, index) =>
      Array.from({ length: k }, (_none, place) => {
        const at = top && place < top.k ? index * top.k + place : -1
        return { id: top?.ids[at] ?? -1, logprob: top?.logprobs[at] ?? null }
      }),
    ),
  )
  return { k, ids: rows.flat().map(({ id }) => id), logprobs: rows.flat().map(({ logprob }) => logprob) }
}
