/**
 * Views over all tokens of a trajectory, derived from its segments. Positions count from the first token; ranges are
 * half-open.
 */

import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import type { Span, ToolCall, Trajectory } from '../format/trajectory.ts'
import { numberAt, type SegmentView, type TrajectoryView } from './trajectory-view.ts'

/** One token with everything known about it. */
export interface Token {
  readonly index: number
  readonly id: number
  readonly segmentIndex: number
  readonly indexInSegment: number
  readonly segment: SegmentView
  readonly trained: boolean
  /** null = unknown. */
  readonly logprob: number | null
  /** Best first; empty if none were requested. */
  readonly alternatives: readonly { readonly id: number; readonly logprob: number | null }[]
  /** Outermost first, for example `tool call call_0000`, `arguments.expression`. */
  readonly spans: readonly TokenSpan[]
}

/** A parsed part that contains a token. */
export type TokenSpan =
  | { readonly kind: 'think'; readonly span: Span; readonly closed: boolean }
  | { readonly kind: 'tool-call'; readonly span: Span; readonly call: ToolCall }
  | { readonly kind: 'argument'; readonly span: Span; readonly call: ToolCall; readonly name: string }
  | { readonly kind: 'special'; readonly span: Span }

/** Returns closed segments and the open one, in order. */
export function segmentsOf<S extends SegmentView>({ segments, live }: GrowingSegments<S>): readonly S[] {
  return live?.open ? [...segments, live.open] : segments
}

interface GrowingSegments<S> {
  readonly segments: readonly S[]
  readonly live?: { readonly open?: S }
}

/** Returns the position of the first token of each segment, then the number of tokens. */
export function segmentStarts({ segments, live }: Pick<TrajectoryView, 'segments' | 'live'>): readonly number[] {
  const starts = startsOfClosed(segments)
  return live?.open ? [...starts, (starts.at(-1) as number) + live.open.ids.length] : starts
}

const startsOfClosed = memoizeByIdentity((segments: readonly SegmentView[]): readonly number[] => {
  let next = 0
  return [0, ...segments.map((segment) => (next += segment.ids.length))]
})

/** Returns the number of tokens. */
export const tokenCount = ({ segments, live }: Pick<TrajectoryView, 'segments' | 'live'>): number =>
  (startsOfClosed(segments).at(-1) as number) + (live?.open?.ids.length ?? 0)

/** Returns the number of the segment that contains a token, given the starts of all; −1 if there is no such token. */
export function segmentIndexAt(starts: readonly number[], index: number): number {
  const begun = countWhile(starts.length, (at) => elementAt(starts, at) <= index)
  return begun < starts.length ? begun - 1 : -1
}

/** Returns the responses, each with the position of its first token. `starts` are those of all segments. */
export const placedResponses = <S extends SegmentView>(
  segments: readonly S[],
  starts: readonly number[],
): readonly { readonly segment: Extract<S, { kind: 'response' }>; readonly start: number }[] =>
  segments.flatMap((segment, index) => (isResponse(segment) ? [{ segment, start: elementAt(starts, index) }] : []))

const isResponse = <S extends SegmentView>(segment: S): segment is Extract<S, { kind: 'response' }> =>
  segment.kind === 'response'

/** Returns the spans that begin before a length, cut there. */
export const spansBefore = <S extends Span>(spans: readonly S[], length: number): readonly S[] =>
  spans.flatMap((span) => (span.start < length ? [{ ...span, end: Math.min(span.end, length) }] : []))

/** Returns all token ids, read and sampled. */
export const ids = (trajectory: TrajectoryView): number[] =>
  segmentsOf(trajectory).flatMap((segment) => Array.from(segment.ids))

/** Returns all token ids as a typed array, several times as fast as a list. */
export function idColumn(trajectory: Pick<TrajectoryView, 'segments' | 'live'>): Int32Array {
  const column = new Int32Array(tokenCount(trajectory))
  let at = 0
  for (const { ids } of segmentsOf(trajectory)) {
    column.set(ids, at)
    at += ids.length
  }
  return column
}

/** Returns a range of ids from a list or a typed array. */
export const idsBetween = (ids: ArrayLike<number>, { start, end }: Span): number[] =>
  Array.from({ length: end - start }, (_, offset) => elementAt(ids, start + offset))

/** Returns a span that begins and ends `by` tokens later. */
export const shiftedSpan = ({ start, end }: Span, by: number): Span => ({ start: start + by, end: end + by })

/** Returns the loss mask with one entry for each token: 1 = trained, 0 = context. */
export const lossMask = (trajectory: TrajectoryView): number[] => segmentsOf(trajectory).flatMap(maskOf)

/** Returns the logprobs with one entry for each token; null = unknown. */
export const logprobs = (trajectory: TrajectoryView): (number | null)[] => segmentsOf(trajectory).flatMap(logprobsOf)

/** Returns all tool calls in order, including malformed ones. */
export const toolCallsOf = ({ segments }: Pick<TrajectoryView, 'segments'>): ToolCall[] =>
  segments.flatMap((segment) => (segment.kind === 'response' ? segment.toolCalls : []))

/** Returns whether a token of a segment is trained. */
export const isTrained = ({ kind, mask }: Pick<SegmentView, 'kind' | 'mask'>, index: number): boolean =>
  mask ? mask[index] === 1 : kind === 'response'

const maskOf = ({ kind, ids, mask }: SegmentView): number[] =>
  Array.from(mask ?? { length: ids.length }, (value) => (value as number | undefined) ?? (kind === 'response' ? 1 : 0))

/** Returns the logprobs of a segment; null = unknown. */
export const logprobsOf = ({ ids, logprobs }: SegmentView): (number | null)[] =>
  Array.from({ length: ids.length }, (_, index) => numberAt(logprobs, index))

/** Logprobs computed in float32 may be slightly above 0. */
const ROUNDING = 1e-3

/** Returns whether a logprob is above 0 by more than rounding. */
export const isImpossible = (logprob: number): boolean => logprob > ROUNDING

/** Returns −logprob in nats; an unknown logprob stays unknown. */
export const surprise = (logprob: number | null): number | null => (logprob === null ? null : Math.max(0, -logprob))

/** Returns the token at a position, or undefined if there is none. */
export function tokenAt(trajectory: TrajectoryView, index: number): Token | undefined {
  const starts = segmentStarts(trajectory)
  const segmentIndex = segmentIndexAt(starts, index)
  const segment = trajectory.segments[segmentIndex] ?? trajectory.live?.open
  if (!segment || segmentIndex < 0) return undefined
  const indexInSegment = index - elementAt(starts, segmentIndex)
  return {
    index,
    id: elementAt(segment.ids, indexInSegment),
    segmentIndex,
    indexInSegment,
    segment,
    trained: isTrained(segment, indexInSegment),
    logprob: numberAt(segment.logprobs, indexInSegment),
    alternatives: alternativesAt(segment, indexInSegment),
    spans: [
      ...spansOf(segment).filter(({ span }) => span.start <= indexInSegment && indexInSegment < span.end),
      ...(isSpecial(trajectory, elementAt(segment.ids, indexInSegment))
        ? [{ kind: 'special', span: { start: indexInSegment, end: indexInSegment + 1 } } as const]
        : []),
    ],
  }
}

/** Returns whether an id is an added token: a special token, or a think or tool delimiter. */
export function isSpecial({ model }: Pick<Trajectory, 'model'>, id: number): boolean {
  return model.tokenizer !== undefined && specialIdsOf(model.tokenizer).has(id)
}

const specialIdsOf = memoizeByIdentity(({ specialIds }: Tokenizer) => new Set(specialIds))
type Tokenizer = NonNullable<Trajectory['model']['tokenizer']>

/** Returns think blocks, tool calls and their arguments, outer before inner, in order of their starts. */
export const spansOf = memoizeByIdentity((segment: SegmentView): readonly TokenSpan[] => {
  if (segment.kind === 'prompt') return []
  const spans: TokenSpan[] = [
    ...segment.thinks.map(({ closed, start, end }): TokenSpan => ({ kind: 'think', span: { start, end }, closed })),
    ...segment.toolCalls.flatMap((call): TokenSpan[] => [
      { kind: 'tool-call', span: call.span, call },
      ...(call.kind === 'parsed'
        ? call.arguments.map(({ name, span }): TokenSpan => ({ kind: 'argument', span, call, name }))
        : []),
    ]),
  ]
  return spans.sort((a, b) => a.span.start - b.span.start || b.span.end - a.span.end)
})

function alternativesAt({ topLogprobs }: SegmentView, index: number): Token['alternatives'] {
  if (!topLogprobs) return []
  const { k } = topLogprobs
  return Array.from({ length: k }, (_, column) => index * k + column)
    .map((cell) => ({ id: elementAt(topLogprobs.ids, cell), logprob: numberAt(topLogprobs.logprobs, cell) }))
    .filter(({ id }) => id >= 0)
}
