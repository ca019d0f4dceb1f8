import { type Selection, selectedRange } from '#components/token-view/selection.ts'
import type { TokenMarks } from '#components/token-view/token-marks.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { int32At } from '#lib/util/element-at.ts'

/**
 * Returns the next marked range after the selection, or the last one before it. Without a selection, returns the first or
 * the last range.
 */
export function markAfter(
  ranges: TokenMarks['ranges'],
  selection: Selection | undefined,
  direction: 1 | -1,
): Span | undefined {
  const from = selection && selectedRange(selection).start
  const spans = Array.from({ length: ranges.length >> 1 }, (_, index) => ({
    start: int32At(ranges, 2 * index),
    end: int32At(ranges, 2 * index + 1),
  }))
  return direction === 1
    ? spans.find(({ start }) => from === undefined || start > from)
    : spans.findLast(({ start }) => from === undefined || start < from)
}
