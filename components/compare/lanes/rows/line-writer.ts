import { addLine, type GrowingLines, writeLines } from '#components/token-view/grid/line-store.ts'
import { elementAt, int32At } from '#lib/util/element-at.ts'
import type { ReadSide } from './context.ts'

/** Returns a writer of the lines of one side, `columns` cells wide. */
export function lineWriter({ segments, starts, table, segmentAt }: ReadSide, columns: number) {
  const lines: GrowingLines = { starts: new Int32Array(1 << 10), lineCount: 0, column: 0, endsLine: false }
  let isBeginning = true
  const begin = (token: number) => {
    addLine(lines, token)
    isBeginning = false
  }
  return {
    starts: () => lines.starts,
    lineCount: () => lines.lineCount,
    /** Returns the column after the last token; 0 if the next token begins a line. */
    column: () => (isBeginning || lines.endsLine ? 0 : lines.column),
    /** Makes the next token begin a line. */
    begin: () => {
      isBeginning = true
    },
    write: (from: number, to: number) => {
      for (let at = from; at < to; ) {
        const segment = segmentAt(at)
        const offset = elementAt(starts, segment)
        const end = Math.min(to, elementAt(starts, segment + 1))
        if (isBeginning || at === offset) begin(at)
        const { ids } = elementAt(segments, segment)
        writeLines(lines, ids, table, columns, { start: at - offset, end: end - offset, offset })
        at = end
      }
    },
    /** Copies the other side's lines from its token `from` on, as lines of this side from token `to` on. */
    copy: (
      other: { readonly starts: () => Int32Array; readonly lineCount: () => number },
      from: number,
      to: number,
    ) => {
      const all = other.starts()
      let first = other.lineCount()
      while (first > 0 && int32At(all, first - 1) >= from) first--
      for (let line = first; line < other.lineCount(); line++) begin(int32At(all, line) - from + to)
    },
  }
}
