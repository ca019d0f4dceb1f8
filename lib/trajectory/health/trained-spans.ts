import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { isTrained } from '../tokens/tokens.ts'
import type { SegmentView } from '../tokens/trajectory-view.ts'

/** Returns the ranges of trained tokens, counted from the first of the trajectory: flat [start, end), sorted. */
export function trainedSpans(segments: readonly SegmentView[]): readonly number[] {
  const spans: number[] = []
  let start = 0
  for (const segment of segments) {
    const [first, ...others] = spansInSegment(segment)
    if (first !== undefined) {
      if (spans.at(-1) === start + first) spans.pop()
      else spans.push(start + first)
      for (const place of others) spans.push(start + place)
    }
    start += segment.ids.length
  }
  return spans
}

/** Returns the ranges within a segment. A closed segment never changes, so while a trajectory grows only new segments are read. */
const spansInSegment = memoizeByIdentity((segment: SegmentView): readonly number[] => {
  const spans: number[] = []
  for (let token = 0; token < segment.ids.length; token++) {
    if (!isTrained(segment, token)) continue
    if (spans.at(-1) === token) spans[spans.length - 1] = token + 1
    else spans.push(token, token + 1)
  }
  return spans
})
