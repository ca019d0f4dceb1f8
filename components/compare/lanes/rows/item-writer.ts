import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import { int32At } from '#lib/util/element-at.ts'
import { enlarge } from '#lib/util/enlarge.ts'
import {
  BLOCK_GAP,
  DIVIDER_HEIGHT,
  END_GAP,
  FIELDS,
  KINDS,
  OFFSETS,
  type Rows,
  SHORT_BLOCK_GAP,
  STARTS_BLOCK,
} from './rows.ts'

/**
 * Returns a writer of the table of items; rows.ts has the layout of the table. The open item is the row of the table after the finished
 * ones, because 200,000 items as objects would take longer than their lines.
 */
export function itemWriter({ rowHeight, arrangement }: Pick<Rows, 'rowHeight' | 'arrangement'>) {
  let table = new Int32Array(FIELDS << 6)
  let tops = new Float64Array(1 << 6)
  let count = 0
  let rowCount = 0
  let height = 0
  let isOpen = false
  let isBlockNext = true
  /** Whether the last block has a single row so far. */
  let isShort = false

  const finish = () => {
    if (!isOpen) return
    isOpen = false
    const at = FIELDS * count
    const field = (name: number) => int32At(table, at + name)
    if (field(OFFSETS.leftEnd) === field(OFFSETS.left) && field(OFFSETS.rightEnd) === field(OFFSETS.right)) return
    const [left, right] = [
      field(OFFSETS.leftLineEnd) - field(OFFSETS.leftLine),
      field(OFFSETS.rightLineEnd) - field(OFFSETS.rightLine),
    ]
    const kind = KINDS[field(OFFSETS.kind)]
    const rows = kind !== 'tokens' ? 1 : arrangement === 'unified' ? left + right : Math.max(left, right)
    const startsBlock = (field(OFFSETS.flags) & STARTS_BLOCK) !== 0
    table[at + OFFSETS.row] = rowCount
    if (isShort && startsBlock) height += SHORT_BLOCK_GAP
    isShort = startsBlock && kind === 'tokens' && rows === 1
    tops[count] = height
    count++
    rowCount += rows
    height += kind === 'divider' ? DIVIDER_HEIGHT : rows * rowHeight + (startsBlock ? BLOCK_GAP : 0)
    isBlockNext = false
  }
  const end = (runEnd: number, left: number, right: number, leftLine: number, rightLine: number) => {
    if (!isOpen) return
    const at = FIELDS * count
    table[at + OFFSETS.runEnd] = runEnd
    table[at + OFFSETS.leftEnd] = left
    table[at + OFFSETS.rightEnd] = right
    table[at + OFFSETS.leftLineEnd] = leftLine
    table[at + OFFSETS.rightLineEnd] = rightLine
  }
  return {
    /** Opens an item with its first aligned run, and the first token and line of each side. */
    begin: (run: number, flags: number, left: number, right: number, leftLine: number, rightLine: number) => {
      finish()
      if (FIELDS * (count + 1) > table.length) {
        table = enlarge(table)
        tops = enlarge(tops)
      }
      const at = FIELDS * count
      table[at + OFFSETS.kind] = KINDS.indexOf('tokens')
      table[at + OFFSETS.run] = run
      table[at + OFFSETS.left] = left
      table[at + OFFSETS.right] = right
      table[at + OFFSETS.leftLine] = leftLine
      table[at + OFFSETS.rightLine] = rightLine
      table[at + OFFSETS.flags] = flags | (isBlockNext ? STARTS_BLOCK : 0)
      isOpen = true
      end(run, left, right, leftLine, rightLine)
    },
    fold: (kind: 'fold' | 'divider') => {
      if (isOpen) table[FIELDS * count + OFFSETS.kind] = KINDS.indexOf(kind)
    },
    /** Sets the ends of the open item: of its aligned runs, and of the tokens and lines of each side. */
    end,
    close: (isBlock: boolean) => {
      finish()
      isBlockNext ||= isBlock
    },
    isBegun: () => isOpen,
    /** Returns the first line of the open item. */
    line: (side: SideName) =>
      isOpen ? int32At(table, FIELDS * count + (side === 'left' ? OFFSETS.leftLine : OFFSETS.rightLine)) : 0,
    written: (): Pick<Rows, 'items' | 'tops' | 'itemCount' | 'rowCount' | 'height'> => {
      finish()
      return {
        items: table,
        tops,
        itemCount: count,
        rowCount,
        height: count === 0 ? 0 : height + END_GAP + (isShort ? SHORT_BLOCK_GAP : 0),
      }
    },
  }
}
