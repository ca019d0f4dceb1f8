/** What is scored again of a trajectory. */
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { numberAt, type SegmentView, type TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Ranges of tokens whose logprobs are recorded: responses, and prompts whose prefill logprobs were asked for. */
export function rangesToVerify(trajectory: TrajectoryView): readonly Span[] {
  const ranges: { start: number; end: number }[] = []
  let start = 0
  for (const segment of trajectory.segments) {
    const end = start + segment.ids.length
    const last = ranges.at(-1)
    if (isScored(segment)) {
      if (last?.end === start) last.end = end
      else ranges.push({ start, end })
    }
    start = end
  }
  return ranges.filter(({ start, end }) => end > start)
}

function isScored({ ids, logprobs }: SegmentView): boolean {
  for (let index = 0; index < ids.length; index++) if (numberAt(logprobs, index) !== null) return true
  return false
}
