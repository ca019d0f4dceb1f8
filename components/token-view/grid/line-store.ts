/** The lines of segments for one width and one font. The lines of a segment are computed once; a growing segment adds only new ones. */

import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { enlarge } from '#lib/util/enlarge.ts'
import { CELLS, ENDS_LINE, IS_PART, type PieceTable } from '../pieces/piece-table.ts'
import type { SegmentLines } from './line-folds.ts'

/** Returns the unfolded lines of a segment. */
export interface LineStore {
  readonly linesOf: (segment: SegmentView) => SegmentLines
}

/** Returns an empty store for lines of so many columns. */
export function createLineStore(table: PieceTable, columns: number): LineStore {
  const known = new WeakMap<SegmentView, SegmentLines>()
  let latest: { readonly segment: SegmentView; readonly broken: BrokenLines } | undefined
  return {
    linesOf: (segment) => {
      const found = known.get(segment)
      if (found) return found
      const grown = latest && isGrown(latest.segment, segment) ? latest.broken : undefined
      const broken = breakLines(segment.ids, table, columns, grown)
      latest = { segment, broken }
      const lines = { ...broken, folds: undefined }
      known.set(segment, lines)
      return lines
    },
  }
}

/** Returns whether the later segment begins with all tokens of the earlier one. */
function isGrown({ kind, ids }: SegmentView, later: SegmentView): boolean {
  if (kind !== later.kind || ids.length > later.ids.length) return false
  if (isSameMemory(ids, later.ids)) return true
  for (let index = 0; index < ids.length; index++) if (ids[index] !== later.ids[index]) return false
  return true
}

/** Returns whether two columns are the same memory: columns of a growing run are views of one buffer. */
export const isSameMemory = (a: ArrayLike<number>, b: ArrayLike<number>): boolean =>
  a === b ||
  (a instanceof Int32Array && b instanceof Int32Array && a.buffer === b.buffer && a.byteOffset === b.byteOffset)

/** Lines up to some token, with the state from which more lines can be added. */
interface BrokenLines {
  /** Index of the first token of each line; the array may be longer. Entries of existing lines never change. */
  readonly starts: Int32Array
  readonly lineCount: number
  readonly tokenCount: number
  /** Column after the last token. */
  readonly column: number
  readonly endsLine: boolean
}

/** Lines that are being written, in place. */
export interface GrowingLines {
  starts: Int32Array
  lineCount: number
  column: number
  endsLine: boolean
}

const NO_LINES: BrokenLines = { starts: new Int32Array(16), lineCount: 1, tokenCount: 0, column: 0, endsLine: false }

/** Returns the lines of all tokens; `from` contains the lines of the first ones. */
export function breakLines(
  ids: ArrayLike<number>,
  table: PieceTable,
  columns: number,
  from: BrokenLines = { ...NO_LINES, starts: new Int32Array(Math.max(4, ids.length >> 3)) },
): BrokenLines {
  const lines = { ...from, tokenCount: ids.length }
  writeLines(lines, ids, table, columns, { start: from.tokenCount, end: ids.length, offset: 0 })
  return lines
}

/**
 * Appends the lines of some tokens. A token with a line break ends its line; a token that does not fit begins the next line.
 * `offset` is added to the starts that are written.
 */
export function writeLines(
  lines: GrowingLines,
  ids: ArrayLike<number>,
  table: PieceTable,
  columns: number,
  { start, end, offset }: { readonly start: number; readonly end: number; readonly offset: number },
): void {
  let { column, endsLine } = lines
  let widths = table.widths()
  for (let index = start; index < end; index++) {
    const id = elementAt(ids, index)
    let width = widths[id] ?? 0
    if (width === 0) {
      width = table.widthOf(id)
      widths = table.widths()
    }
    const whole = (width & IS_PART) === 0 ? width & CELLS : table.partCells(ids, index)
    const cells = Math.min(whole, columns)
    if (endsLine || (column > 0 && column + cells > columns)) {
      addLine(lines, index + offset)
      column = 0
    }
    column += cells
    endsLine = (width & ENDS_LINE) !== 0
  }
  lines.column = column
  lines.endsLine = endsLine
}

/** Appends a line that begins with `token`, and enlarges the array if it is full. */
export function addLine(lines: GrowingLines, token: number): void {
  if (lines.lineCount === lines.starts.length) lines.starts = enlarge(lines.starts)
  lines.starts[lines.lineCount++] = token
  lines.column = 0
  lines.endsLine = false
}
