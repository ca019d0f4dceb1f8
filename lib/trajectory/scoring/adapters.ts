/** The LoRA adapters that a trajectory was sampled with. Scores are comparable only if the same adapter gives them. */
import { elementAt } from '#lib/util/element-at.ts'
import type { Span } from '../format/trajectory.ts'
import { segmentStarts } from '../tokens/tokens.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'

/** A range of tokens, and the adapter that read or sampled them. Omitted: none. */
export interface AdaptedSpan extends Span {
  readonly adapter?: string
}

/**
 * Returns the adapter of each segment; undefined if it had none. A prompt belongs to the call of the response after it, whose adapter
 * has read it.
 */
function segmentAdapters({ segments }: Pick<TrajectoryView, 'segments'>): readonly (string | undefined)[] {
  let adapter: string | undefined
  return segments
    .toReversed()
    .map((segment) => {
      if (segment.kind === 'response') adapter = segment.request?.adapter
      return adapter
    })
    .reverse()
}

/** Returns the ranges with their adapters, cut where the adapter changes. The ranges rise and do not overlap. */
export function withAdapters(
  trajectory: Pick<TrajectoryView, 'segments'>,
  ranges: readonly Span[],
): readonly AdaptedSpan[] {
  const starts = segmentStarts(trajectory)
  const adapted: { start: number; end: number; adapter?: string }[] = []
  for (const [index, adapter] of segmentAdapters(trajectory).entries()) {
    const [from, to] = [elementAt(starts, index), elementAt(starts, index + 1)]
    for (const range of ranges) {
      const [start, end] = [Math.max(range.start, from), Math.min(range.end, to)]
      const last = adapted.at(-1)
      if (start >= end) continue
      if (last && last.end === start && start > range.start && last.adapter === adapter) last.end = end
      else adapted.push({ start, end, ...(adapter !== undefined && { adapter }) })
    }
  }
  return adapted
}

/** Returns the names of all adapters that sampled a response, each once. */
export const adaptersOf = ({ segments }: Pick<TrajectoryView, 'segments'>): readonly string[] => [
  ...new Set(segments.flatMap((segment) => (segment.kind === 'response' && segment.request?.adapter) || [])),
]

/** Returns the adapter of the last response; undefined if it had none; null if no response records its request. */
export function lastAdapter({ segments }: Pick<TrajectoryView, 'segments'>): string | undefined | null {
  const last = segments.findLast((segment) => segment.kind === 'response' && segment.request !== undefined)
  return last?.kind === 'response' ? last.request?.adapter : null
}
