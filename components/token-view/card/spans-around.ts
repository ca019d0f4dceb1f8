import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { tokenAt } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { imageAt } from '../pieces/folding.ts'

/**
 * Returns the spans that contain a token, the smallest first: argument, tool call, think block or image, and last its segment. Equal ranges appear
 * once.
 */
export function spansAround(trajectory: TrajectoryView, index: number): readonly Span[] {
  const token = tokenAt(trajectory, index)
  if (!token) return []
  const first = index - token.indexInSegment
  const spans = token.spans
    .filter(({ kind }) => kind !== 'special')
    .map(({ span }) => ({ start: first + span.start, end: first + span.end }))
    .concat(imageAt(trajectory, index) ?? [])
    .concat({ start: first, end: first + token.segment.ids.length })
    .sort((a, b) => a.end - a.start - (b.end - b.start))
  return spans.filter(({ start, end }, place) => start !== spans[place - 1]?.start || end !== spans[place - 1]?.end)
}
