/** The lines of a branch: its tokens, broken at the width that its level of indentation leaves. */
import { addLine, type GrowingLines, writeLines } from '#components/token-view/grid/line-store.ts'
import type { PieceTable } from '#components/token-view/pieces/piece-table.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { segmentIndexAt } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** Lines of some tokens of a trajectory. No line contains tokens of two segments. */
export interface BranchLines {
  /** Index of the first token of each line, counted in the trajectory. */
  readonly starts: Int32Array
  /** Index after the last token. */
  readonly end: number
}

/** Returns the lines of a range of tokens, `columns` cells wide. `starts` are those of all segments, then the number of tokens. */
export function linesOfBranch(
  segments: readonly SegmentView[],
  starts: readonly number[],
  { start, end }: Span,
  table: PieceTable,
  columns: number,
): BranchLines {
  const lines: GrowingLines = { starts: new Int32Array(16), lineCount: 0, column: 0, endsLine: false }
  const last = Math.min(end, elementAt(starts, starts.length - 1))
  for (let at = start; at < last; ) {
    const index = segmentIndexAt(starts, at)
    const offset = elementAt(starts, index)
    const to = Math.min(last, elementAt(starts, index + 1))
    addLine(lines, at)
    writeLines(lines, elementAt(segments, index).ids, table, columns, {
      start: at - offset,
      end: to - offset,
      offset,
    })
    at = to
  }
  return { starts: lines.starts.slice(0, lines.lineCount), end: last }
}
