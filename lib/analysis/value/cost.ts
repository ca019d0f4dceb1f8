/** Estimates how many tokens an estimate samples, before it starts. */
import { segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** Limits that shorten what is sampled after a position. */
export interface CostLimits {
  /** Most tokens of one response. Omitted: as long as those of the trajectory. */
  readonly maxNewTokens?: number | undefined
  /** Most tokens of a whole trajectory. Omitted: no limit. */
  readonly maxTokens?: number | undefined
}

/**
 * Returns the expected number of sampled tokens: at each position, the tokens that the model sampled from there to the end of the
 * trajectory, `n` times. Nothing better is known before the first resample.
 */
export const estimatedTokens = (
  trajectory: TrajectoryView,
  positions: readonly number[],
  n: number,
  limits: CostLimits = {},
): number => positions.reduce((sum, at) => sum + n * sampledFrom(trajectory, at, limits), 0)

function sampledFrom(
  trajectory: TrajectoryView,
  at: number,
  { maxNewTokens = Number.POSITIVE_INFINITY, maxTokens = Number.POSITIVE_INFINITY }: CostLimits,
): number {
  const starts = segmentStarts(trajectory)
  const sampled = segmentsOf(trajectory).reduce((sum, { kind, ids }, index) => {
    const start = elementAt(starts, index)
    const rest = kind === 'response' ? Math.max(0, start + ids.length - Math.max(start, at)) : 0
    return sum + Math.min(rest, maxNewTokens)
  }, 0)
  return Math.max(0, Math.min(sampled, maxTokens - at))
}
