/** One side of a comparison with indexes for classification: the part at a token is found without a scan. */

import type { Span, ToolCall } from '#lib/trajectory/format/trajectory.ts'
import { segmentMessages } from '#lib/trajectory/messages/message-parts.ts'
import {
  isSpecial as isSpecialIn,
  isTrained,
  placedResponses,
  segmentStarts,
  segmentsOf,
} from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt, uint32At } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import type { BytesOf } from '../align/spelling.ts'

/**
 * One side of a comparison. Spans count tokens from the first of the trajectory; those of one list are in order and
 * disjoint.
 */
export interface DriftSide {
  readonly trajectory: TrajectoryView
  readonly ids: ArrayLike<number>
  /** One number for each token; equal numbers are equal tokens (see vocabularies.ts). */
  readonly numbers: ArrayLike<number>
  /** Returns the exact bytes of a token, or undefined if unknown. */
  readonly bytesAt: (token: number) => Uint8Array | undefined
  readonly responses: readonly Span[]
  /** Responses that a model sampled token by token: they have a request or logprobs. */
  readonly sampled: readonly Span[]
  readonly thinks: readonly Span[]
  /** Calls inside of other calls are left out. The brackets of a list belong to its first and last call. */
  readonly calls: readonly CallSpan[]
  /** Tokens at which segments begin. */
  readonly edges: ReadonlySet<number>
  /** Number of trained tokens before each token, then the total. */
  readonly trainedBefore: Uint32Array
  /** Returns the end of the system prompt and the tools, which is the first other message; 0 if unknown. */
  readonly contextEnd: () => number
}

/** A tool call with its range of tokens. */
export interface CallSpan extends Span {
  readonly call: ToolCall
}

/** Builds the indexes of one side. */
export function driftSide(
  trajectory: TrajectoryView,
  { ids, numbers, bytes }: Pick<DriftSide, 'ids' | 'numbers'> & { readonly bytes: BytesOf },
): DriftSide {
  const starts = segmentStarts(trajectory)
  const placed = segmentsOf(trajectory).map((segment, index) => ({ segment, start: elementAt(starts, index) }))
  const within = (start: number, span: Span): Span => ({ start: start + span.start, end: start + span.end })
  const responses = placedResponses(segmentsOf(trajectory), starts)
  const extent = ({ segment, start }: (typeof placed)[number]): Span => ({ start, end: start + segment.ids.length })
  let contextEnd: number | undefined
  const bytesAt = (token: number) => bytes(elementAt(numbers, token))
  return {
    trajectory,
    ids,
    numbers,
    bytesAt,
    responses: responses.map(extent),
    sampled: responses.filter(({ segment }) => segment.request ?? segment.logprobs).map(extent),
    thinks: outermost(responses.flatMap(({ segment, start }) => segment.thinks.map((span) => within(start, span)))),
    calls: outermost(
      responses.flatMap(({ segment, start }) =>
        segment.toolCalls.map((call) => ({ ...within(start, call.span), call })),
      ),
    ).map((call) => (LISTING.has(trajectory.model.parser) ? withBrackets(call, numbers.length, bytesAt) : call)),
    edges: new Set(starts),
    trainedBefore: trainedBefore(trajectory, numbers.length),
    contextEnd: () => (contextEnd ??= endOfContext(trajectory, starts)),
  }
}

/** Parsers whose calls are in a list. */
const LISTING: ReadonlySet<string | undefined> = new Set(['pythonic', 'mistral'])

function withBrackets(call: CallSpan, count: number, bytesAt: DriftSide['bytesAt']): CallSpan {
  const is = (bracket: RegExp, token: number) =>
    token >= 0 && token < count && bracket.test(new TextDecoder().decode(bytesAt(token)))
  return {
    ...call,
    start: is(/^\s*\[\s*$/, call.start - 1) ? call.start - 1 : call.start,
    end: is(/^\s*,?\s*\]\s*$/, call.end) ? call.end + 1 : call.end,
  }
}

/** Returns the span that contains a token; the spans are in order and disjoint. */
export function spanAt<S extends Span>(spans: readonly S[], token: number): S | undefined {
  const found = spans[countWhile(spans.length, (index) => elementAt(spans, index).start <= token) - 1]
  return found && token < found.end ? found : undefined
}

/** Returns the first span that shares a token with another one. */
export function firstTouched<S extends Span>(spans: readonly S[], { start, end }: Span): S | undefined {
  const index = countWhile(spans.length, (at) => elementAt(spans, at).end <= start)
  const found = spans[index]
  return found && found.start < end ? found : undefined
}

/** Returns the number of trained tokens in a span. */
export const trainedIn = ({ trainedBefore }: DriftSide, { start, end }: Span): number =>
  uint32At(trainedBefore, end) - uint32At(trainedBefore, start)

/** Returns whether a token is a special token. */
export const isSpecialAt = ({ trajectory, ids }: DriftSide, token: number): boolean =>
  isSpecialIn(trajectory, elementAt(ids, token))

const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)

/** Returns whether a token is empty or white space. */
export const isBlank = (side: DriftSide, token: number): boolean =>
  (side.bytesAt(token)?.every(isSpace) ?? false) && !isSpecialAt(side, token)

/** End-of-turn and end-of-text tokens of well-known models, for sides that do not name their own. */
const END_TOKENS = new Set([
  '<|im_end|>',
  '<|endoftext|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|end_of_text|>',
  '<|end|>',
  '<|return|>',
  '<|call|>',
  '<|eot|>',
  '<|eom|>',
  '<end_of_turn>',
  '<｜end▁of▁sentence｜>',
  '<eos>',
  '</s>',
])

/** Returns whether a token ends a turn. */
export const endsTurn = ({ trajectory, ids }: DriftSide, token: number): boolean =>
  endIdsOf(trajectory).has(elementAt(ids, token))

const endIdsOf = memoizeByIdentity(({ model, vocab }: TrajectoryView): ReadonlySet<number | undefined> => {
  const named = Object.keys(vocab)
    .map(Number)
    .filter((id) => END_TOKENS.has(vocab[id] as string))
  return new Set([model.tokenizer?.endOfTurnId, ...named])
})

function outermost<S extends Span>(spans: readonly S[]): readonly S[] {
  const ordered: S[] = []
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end))
    if (span.start < span.end && span.start >= (ordered.at(-1)?.end ?? 0)) ordered.push(span)
  return ordered
}

function trainedBefore(trajectory: TrajectoryView, count: number): Uint32Array {
  const before = new Uint32Array(count + 1)
  let at = 0
  let trained = 0
  for (const segment of segmentsOf(trajectory)) {
    const { length } = segment.ids
    for (let index = 0; index < length; index++) {
      if (isTrained(segment, index)) trained++
      before[++at] = trained
    }
  }
  return before
}

function endOfContext(trajectory: TrajectoryView, starts: readonly number[]): number {
  for (const [index, segment] of segmentsOf(trajectory).entries()) {
    const start = elementAt(starts, index)
    if (segment.kind === 'response') return start
    for (const { role, parts } of segmentMessages(trajectory, index)) {
      if (role === 'system' || role === 'developer') continue
      const body = parts.find(({ tokens }) => tokens)?.tokens
      return body ? start + body.start : 0
    }
  }
  return starts.at(-1) as number
}
