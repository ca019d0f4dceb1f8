/** Folding and unfolding in the token view. Each toggle is symmetric: if everything it folds is folded, it unfolds all of it. */
import { segmentStarts, segmentsOf, tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { type Folds, NO_FOLDS } from '../grid-options.ts'

/** A segment, by its index, or a think block, by the index of its first token in the trajectory. */
export type Foldable = { readonly kind: 'segment' | 'think'; readonly at: number }

/** Returns the folds with one part folded or unfolded. */
export const foldToggled = (folds: Folds, { kind, at }: Foldable): Folds =>
  kind === 'segment'
    ? { ...folds, segments: toggleMember(folds.segments, at) }
    : { ...folds, thinks: toggleMember(folds.thinks, at) }

/** Folds or unfolds the think block around a token, or else its segment. If the segment is folded, unfolds the segment. */
export function foldToggledAt(folds: Folds, trajectory: TrajectoryView, index: number): Folds {
  const token = tokenAt(trajectory, index)
  if (!token) return folds
  const think = thinkAt(trajectory, index)
  return think === undefined || folds.segments.has(token.segmentIndex)
    ? { ...folds, segments: toggleMember(folds.segments, token.segmentIndex) }
    : { ...folds, thinks: toggleMember(folds.thinks, think) }
}

/** Returns the folds without those that hide the token; the same object if none does. */
export function unfoldedAt(folds: Folds, trajectory: TrajectoryView, index: number): Folds {
  const token = tokenAt(trajectory, index)
  const think = thinkAt(trajectory, index)
  const hidesSegment = token !== undefined && folds.segments.has(token.segmentIndex)
  const hidesThink = think !== undefined && folds.thinks.has(think)
  if (!hidesSegment && !hidesThink) return folds
  return {
    segments: hidesSegment ? toggleMember(folds.segments, token.segmentIndex) : folds.segments,
    thinks: hidesThink ? toggleMember(folds.thinks, think) : folds.thinks,
  }
}

/** Folds every segment, or unfolds everything if all segments are folded. */
export function allToggled(folds: Folds, trajectory: TrajectoryView): Folds {
  const segments = segmentsOf(trajectory).map((_, index) => index)
  return segments.every((index) => folds.segments.has(index))
    ? NO_FOLDS
    : { segments: new Set(segments), thinks: folds.thinks }
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
