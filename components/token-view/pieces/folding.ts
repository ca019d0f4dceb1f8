/** What is folded after a step of folding. Symmetric: what folds all, unfolds all when all is folded. */
import { segmentStarts, segmentsOf, tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { type Folds, NO_FOLDS } from '../grid-options.ts'

/** A segment by its number, a think block by the index of its first token. */
export type Foldable = { readonly kind: 'segment' | 'think'; readonly at: number }

export const foldToggled = (folds: Folds, { kind, at }: Foldable): Folds =>
  kind === 'segment'
    ? { ...folds, segments: toggled(folds.segments, at) }
    : { ...folds, thinks: toggled(folds.thinks, at) }

/** Folds or unfolds the think block that a token stands in, else its segment. In a folded segment it is that. */
export function foldToggledAt(folds: Folds, trajectory: TrajectoryView, index: number): Folds {
  const token = tokenAt(trajectory, index)
  if (!token) return folds
  const think = thinkAt(trajectory, index)
  return think === undefined || folds.segments.has(token.segmentIndex)
    ? { ...folds, segments: toggled(folds.segments, token.segmentIndex) }
    : { ...folds, thinks: toggled(folds.thinks, think) }
}

/** Nothing that hides the token is folded. The same folds where nothing does. */
export function unfoldedAt(folds: Folds, trajectory: TrajectoryView, index: number): Folds {
  const token = tokenAt(trajectory, index)
  const think = thinkAt(trajectory, index)
  const hidesSegment = token !== undefined && folds.segments.has(token.segmentIndex)
  const hidesThink = think !== undefined && folds.thinks.has(think)
  if (!hidesSegment && !hidesThink) return folds
  return {
    segments: hidesSegment ? toggled(folds.segments, token.segmentIndex) : folds.segments,
    thinks: hidesThink ? toggled(folds.thinks, think) : folds.thinks,
  }
}

/** Every segment and every think block, or where all segments are folded, nothing. */
export function allToggled(folds: Folds, trajectory: TrajectoryView): Folds {
  const segments = segmentsOf(trajectory).map((_, index) => index)
  return segments.every((index) => folds.segments.has(index))
    ? NO_FOLDS
    : { segments: new Set(segments), thinks: folds.thinks }
}

/** Every think block, or where all are folded, none. */
export function thinksToggled(folds: Folds, trajectory: TrajectoryView): Folds {
  const thinks = thinksOf(trajectory)
  return { ...folds, thinks: thinks.every((first) => folds.thinks.has(first)) ? new Set() : new Set(thinks) }
}

/** Index of the first token of each think block. */
function thinksOf(trajectory: TrajectoryView): readonly number[] {
  const starts = segmentStarts(trajectory)
  return segmentsOf(trajectory).flatMap((segment, index) =>
    segment.kind === 'response' ? segment.thinks.map(({ start }) => elementAt(starts, index) + start) : [],
  )
}

/** First token of the think block that a token stands in. */
function thinkAt(trajectory: TrajectoryView, index: number): number | undefined {
  const token = tokenAt(trajectory, index)
  const think = token?.spans.find(({ kind }) => kind === 'think')
  return token && think && index - token.indexInSegment + think.span.start
}

function toggled(set: ReadonlySet<number>, member: number): ReadonlySet<number> {
  return set.has(member) ? new Set([...set].filter((other) => other !== member)) : new Set([...set, member])
}
