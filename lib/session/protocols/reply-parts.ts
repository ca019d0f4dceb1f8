/** Converts between a reply as the record has it, its parts and the deltas of a stream. */
import type { TextRange } from '#lib/parsers/parser.ts'
import { thoughtIn } from '#lib/parsers/thinking.ts'
import type { WrittenReply } from '#lib/rollout/prompt/written-reply.ts'
import type { ArrivedTokens } from '#lib/rollout/record/record.ts'
import { strip, trimEnd, trimStart } from '#lib/templates/jinja/python/text/code-points.ts'
import type { Finish, ToolCall, TopLogprobs } from '#lib/trajectory/format/trajectory.ts'
import type { ReplyChoice, ReplyDelta, ReplyHead, ReplyPart, ReplyUsage, SessionReply, TokenSpan } from '../call.ts'

/** Separates think blocks in the reasoning of a message. */
export const BETWEEN_THOUGHTS = '\n'

type ParsedToolCall = Extract<ToolCall, { kind: 'parsed' }>

/**
 * Returns the parts of a reply in the order of its text. Think delimiters, parsed calls and the markup around them are in no
 * text; a malformed call stays text. White space between parts belongs to the text after it, and none is at the ends: all
 * texts together are the content of the message that replyTexts returns for the same reply.
 */
export const replyParts = (written: WrittenReply): readonly ReplyPart[] => placedParts(written).map(({ part }) => part)

/** A part, and the range that it has in the text of its reply. */
export interface PlacedPart {
  readonly part: ReplyPart
  readonly range: TextRange
  /** Where something that is no text interrupts the part: the length of its text before, and where that ends in the reply. */
  readonly gaps?: readonly { readonly length: number; readonly end: number }[]
}

/** Returns where the first `length` characters of the text of a part end in the reply. */
export function endInReply({ range, gaps = [] }: Omit<PlacedPart, 'part'>, text: string, length: number): number {
  const before = gaps.find((gap) => length <= gap.length) ?? { length: text.length, end: range.end }
  return before.end - (before.length - length)
}

/** Returns the parts of a reply like replyParts, with their ranges. */
export function placedParts(written: WrittenReply): readonly PlacedPart[] {
  const parts: PlacedPart[] = []
  let space = ''
  let hasText = false
  const addText = (from: number, to: number): void => {
    const all = space + written.text.slice(from, Math.max(from, to))
    const text = trimEnd(hasText ? all : trimStart(all))
    const behind = hasText || text !== '' ? all.slice(trimEnd(all).length) : ''
    space = behind
    if (text === '') return
    hasText = true
    const end = Math.max(from, to) - behind.length
    append(parts, { kind: 'text', text }, { start: Math.max(0, end - text.length), end })
  }
  let at = 0
  for (const { range, part } of cutsOf(written)) {
    addText(at, range.start)
    at = Math.max(at, range.end)
    if (part?.kind === 'reasoning' && parts.at(-1)?.part.kind === 'reasoning')
      append(parts, { kind: 'reasoning', text: BETWEEN_THOUGHTS + part.text }, range)
    else if (part) parts.push({ part, range })
  }
  addText(at, written.text.length)
  return parts
}

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
    ...parsed.map((call): Cut => ({ range: call.text, part: callPart(call) })),
    ...markup.flatMap((range): readonly Cut[] =>
      parsed.length > 0 || range.kind === 'between' ? [{ range, part: undefined }] : [],
    ),
  ].sort((a, b) => a.range.start - b.range.start)
}

/** Returns the text of a think block without its delimiters and the white space next to them. */
const thoughtOf = (text: string, { start, end }: TextRange): string => strip(thoughtIn(strip(text.slice(start, end))))

const callPart = ({ id, name, input }: ParsedToolCall): ReplyPart => ({
  kind: 'call',
  id,
  name,
  arguments: JSON.stringify(input),
})

/** Adds text to the last part if that has the same kind. */
function append(parts: PlacedPart[], part: TextPart, range: TextRange): void {
  const last = parts.at(-1)
  if (last && last.part.kind !== 'call' && last.part.kind === part.kind)
    parts[parts.length - 1] = {
      part: { kind: part.kind, text: last.part.text + part.text },
      range: { start: last.range.start, end: range.end },
      gaps: [...(last.gaps ?? []), { length: last.part.text.length, end: last.range.end }],
    }
  else parts.push({ part, range })
}

type TextPart = Exclude<ReplyPart, { kind: 'call' }>

/** Returns the part that two texts of one kind are. */
const joinedText = (first: TextPart, second: TextPart): TextPart => ({
  kind: second.kind,
  text: first.text + second.text,
  ...(first.tokens && second.tokens && { tokens: { start: first.tokens.start, end: second.tokens.end } }),
})

/** Returns the deltas of parts, for a stream of a reply that arrived whole. */
function partDeltas(choice: number, parts: readonly ReplyPart[]): readonly ReplyDelta[] {
  let call = -1
  return parts.flatMap((part): readonly ReplyDelta[] => {
    if (part.kind !== 'call') return [{ ...part, choice }]
    call++
    return callDeltas(choice, call, part)
  })
}

/** Returns the deltas of a whole call. */
const callDeltas = (
  choice: number,
  call: number,
  { id, name, arguments: text }: Extract<ReplyPart, { kind: 'call' }>,
): readonly Extract<ReplyDelta, { kind: 'call' | 'arguments' }>[] => [
  { kind: 'call', choice, call, id, name },
  { kind: 'arguments', choice, call, text },
]

/** Returns all deltas of a whole reply. */
export const replyDeltas = ({ choices, usage }: SessionReply): readonly ReplyDelta[] => [
  ...choices.flatMap(({ parts, tokens, finish }, choice): readonly ReplyDelta[] => [
    { kind: 'tokens', choice, tokens },
    ...partDeltas(choice, parts),
    { kind: 'finish', choice, finish },
  ]),
  { kind: 'usage', usage },
]

/** Returns the reply that deltas add up to. */
export function collectReply(head: ReplyHead, deltas: Iterable<ReplyDelta>): SessionReply {
  const choices: GrowingChoice[] = []
  let usage: ReplyUsage = {
    promptTokens: head.promptTokens,
    cachedTokens: head.cachedTokens,
    completionTokens: 0,
    reasoningTokens: 0,
  }
  for (const delta of deltas) {
    if (delta.kind === 'usage') {
      usage = delta.usage
      continue
    }
    const choice = choices[delta.choice] ?? { parts: [], tokens: [], finish: { kind: 'unknown', raw: '' } }
    choices[delta.choice] = choice
    switch (delta.kind) {
      case 'tokens':
        choice.tokens.push(delta.tokens)
        break
      case 'reasoning':
      case 'text':
        addText(choice.parts, delta)
        break
      case 'call':
        choice.parts.push({ kind: 'call', id: delta.id, name: delta.name, arguments: '' })
        break
      case 'arguments':
        addArguments(choice.parts, delta.text)
        break
      case 'finish':
        choice.finish = delta.finish
    }
  }
  return { ...head, choices: choices.map(wholeChoice), usage }
}

interface GrowingChoice {
  readonly parts: ReplyPart[]
  readonly tokens: ArrivedTokens[]
  finish: Finish
}

function addText(parts: ReplyPart[], { kind, text, tokens }: TextPart): void {
  const last = parts.at(-1)
  const part: TextPart = { kind, text, ...(tokens && { tokens }) }
  if (last && last.kind !== 'call' && last.kind === kind) parts[parts.length - 1] = joinedText(last, part)
  else parts.push(part)
}

function addArguments(parts: ReplyPart[], text: string): void {
  const last = parts.at(-1)
  if (last?.kind !== 'call') throw new Error('arguments follow the start of their call')
  parts[parts.length - 1] = { ...last, arguments: last.arguments + text }
}

const wholeChoice = ({ parts, tokens, finish }: GrowingChoice): ReplyChoice => ({
  parts,
  finish,
  tokens: joinedTokens(tokens),
})

/** Returns some tokens of a reply. */
export const tokensIn = (
  { ids, logprobs, topLogprobs: top }: ArrivedTokens,
  { start, end }: TokenSpan,
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
