import type { Span } from '#lib/core/trajectory.ts'
import { rangeOf, type Selection } from '../trajectory/selection.ts'
import type { TokenMarks } from '../trajectory/token-marks.ts'

/** The next marked range after what is chosen, or the last one before it; without a choice the first, or the last. */
export function markAfter(
  ranges: TokenMarks['ranges'],
  selection: Selection | undefined,
  direction: 1 | -1,
): Span | undefined {
  const from = selection && rangeOf(selection).start
  const spans = Array.from({ length: ranges.length >> 1 }, (_, index) => ({
    start: ranges[2 * index] as number,
    end: ranges[2 * index + 1] as number,
  }))
  return direction === 1
    ? spans.find(({ start }) => from === undefined || start > from)
    : spans.findLast(({ start }) => from === undefined || start < from)
}
