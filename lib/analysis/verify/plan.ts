/** Plans which tokens of a trajectory are scored again. */
import { type AdaptedSpan, withAdapters } from '#lib/trajectory/scoring/adapters.ts'
import { numberAt, type SegmentView, type TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/**
 * Returns the ranges of segments with recorded logprobs, and their adapters: responses, and prompts whose prefill logprobs were
 * requested. With `isWhole`, for routed experts, all tokens are in a range.
 */
export function rangesToVerify(trajectory: TrajectoryView, isWhole = false): readonly AdaptedSpan[] {
  const ranges: { start: number; end: number }[] = []
  let start = 0
  for (const segment of trajectory.segments) {
    const end = start + segment.ids.length
    const last = ranges.at(-1)
    if (isWhole || isScored(segment)) {
      if (last?.end === start) last.end = end
      else ranges.push({ start, end })
    }
    start = end
  }
  return withAdapters(
    trajectory,
    ranges.filter(({ start, end }) => end > start),
  )
}

function isScored({ ids, logprobs }: SegmentView): boolean {
  for (let index = 0; index < ids.length; index++) if (numberAt(logprobs, index) !== null) return true
  return false
}
