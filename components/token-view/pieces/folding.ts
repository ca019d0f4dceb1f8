/** Folding and unfolding in the token view. Each toggle is symmetric: if everything it folds is folded, it unfolds all of it. */
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { imageSpansOf } from '#lib/trajectory/images/image-boxes.ts'
import { segmentStarts, segmentsOf, shiftedSpan, tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { unreachable } from '#lib/util/unreachable.ts'
import { type Folds, NO_FOLDS } from '../grid-options.ts'

/** A segment, by its index, or a think block or an image, by the index of its first token in the trajectory. */
export type Foldable = { readonly kind: 'segment' | 'think' | 'image'; readonly at: number }

/** Returns the folds with one part folded or unfolded. */
export function foldToggled(folds: Folds, { kind, at }: Foldable): Folds {
  switch (kind) {
    case 'segment':
      return { ...folds, segments: toggleMember(folds.segments, at) }
    case 'think':
      return { ...folds, thinks: toggleMember(folds.thinks, at) }
    case 'image':
      return { ...folds, openImages: toggleMember(folds.openImages ?? new Set(), at) }
    default:
      return unreachable(kind)
  }
}

/**
 * Folds or unfolds the think block or the image around a token, or else its segment. If the segment is folded, unfolds the
 * segment.
 */
export function foldToggledAt(folds: Folds, trajectory: TrajectoryView, index: number): Folds {
  const token = tokenAt(trajectory, index)
  if (!token) return folds
  const think = thinkAt(trajectory, index)
  const image = imageAt(trajectory, index)
  const inner: Foldable | undefined =
    think !== undefined ? { kind: 'think', at: think } : image && { kind: 'image', at: image.start }
  return foldToggled(
    folds,
    inner === undefined || folds.segments.has(token.segmentIndex) ? { kind: 'segment', at: token.segmentIndex } : inner,
  )
}

/** Returns the tokens of the image that contains a token, as indices in the trajectory; undefined if there is none. */
export function imageAt(trajectory: TrajectoryView, index: number): Span | undefined {
  const token = tokenAt(trajectory, index)
  const span =
    token &&
    imageSpansOf(token.segment, trajectory).find(
      ({ start, end }) => start <= token.indexInSegment && token.indexInSegment < end,
    )
  return span && shiftedSpan(span, index - token.indexInSegment)
}

/** Returns the folds without those that hide the token; the same object if none does. */
export function unfoldedAt(folds: Folds, trajectory: TrajectoryView, index: number): Folds {
  const token = tokenAt(trajectory, index)
  const think = thinkAt(trajectory, index)
  const hidesSegment = token !== undefined && folds.segments.has(token.segmentIndex)
  const hidesThink = think !== undefined && folds.thinks.has(think)
  if (!hidesSegment && !hidesThink) return folds
  return {
    ...folds,
    segments: hidesSegment ? toggleMember(folds.segments, token.segmentIndex) : folds.segments,
    thinks: hidesThink ? toggleMember(folds.thinks, think) : folds.thinks,
  }
}

/** Folds every segment, or unfolds everything if all segments are folded. */
export function allToggled(folds: Folds, trajectory: TrajectoryView): Folds {
  const segments = segmentsOf(trajectory).map((_, index) => index)
  return segments.every((index) => folds.segments.has(index))
    ? { ...folds, ...NO_FOLDS }
    : { ...folds, segments: new Set(segments) }
}

/** Folds every think block, or unfolds them if all are folded. */
export function thinksToggled(folds: Folds, trajectory: TrajectoryView): Folds {
  const thinks = thinksOf(trajectory)
  return { ...folds, thinks: thinks.every((first) => folds.thinks.has(first)) ? new Set() : new Set(thinks) }
}

/** Returns the index of the first token of each think block. */
function thinksOf(trajectory: TrajectoryView): readonly number[] {
  const starts = segmentStarts(trajectory)
  return segmentsOf(trajectory).flatMap((segment, index) =>
    segment.kind === 'response' ? segment.thinks.map(({ start }) => elementAt(starts, index) + start) : [],
  )
}

/** Returns the index of the first token of the think block around a token; undefined if there is none. */
function thinkAt(trajectory: TrajectoryView, index: number): number | undefined {
  const token = tokenAt(trajectory, index)
  const think = token?.spans.find(({ kind }) => kind === 'think')
  return token && think && index - token.indexInSegment + think.span.start
}

function toggleMember(set: ReadonlySet<number>, member: number): ReadonlySet<number> {
  return set.has(member) ? new Set([...set].filter((other) => other !== member)) : new Set([...set, member])
}
