/**
 * Rows of two sides, with equal tokens beside each other. One table stores the items by number: an item is a folded run of
 * equal tokens, or shown tokens of both sides. Of each line only the first token is stored. The module is pure.
 */

import type { DrawnLine } from '#components/token-view/grid/layout.ts'
import type { PieceTable } from '#components/token-view/pieces/piece-table.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { AlignedRun } from '#lib/trajectory/drift/align.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { segmentIndexAt } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt, float64At, int32At } from '#lib/util/element-at.ts'

/** Returns a function that finds the segment of a token, −1 if none. Calls in token order are fast: they check neighbours first. */
export function segmentFinder({ starts }: Pick<RowSide, 'starts'>): (token: number) => number {
  let last = 0
  return (token) => {
    if (token >= elementAt(starts, last) && token < (starts[last + 1] ?? 0)) return last
    const found = segmentIndexAt(starts, token)
    if (found >= 0) last = found
    return found
  }
}

/** Names of both sides, the left first. */
export const SIDES = ['left', 'right'] as const
/** Returns the name of the opposite side. */
export const otherSide = (side: SideName): SideName => (side === 'left' ? 'right' : 'left')

/** A side as input for its rows. */
export interface RowSide {
  readonly segments: readonly SegmentView[]
  /** Index of the first token of each segment, followed by the number of tokens. */
  readonly starts: readonly number[]
  readonly table: PieceTable
}

/** Layout of two sides in rows. */
export interface Rows {
  /** lanes: both sides beside each other. unified: one column with equal tokens once, else the left's tokens, then the right's. */
  readonly arrangement: 'lanes' | 'unified'
  readonly sides: Readonly<Record<SideName, RowSide>>
  readonly alignedRuns: readonly AlignedRun[]
  readonly columns: number
  /** Height of one row in pixels; `height` is the total height in pixels. */
  readonly rowHeight: number
  readonly height: number
  readonly rowCount: number
  readonly itemCount: number
  /** Table with `FIELDS` numbers per item. */
  readonly items: Int32Array
  /** Top of each item in pixels. */
  readonly tops: Float64Array
  /** First token of each line, as an index from the start of the side. */
  readonly lines: Readonly<Record<SideName, Int32Array>>
}

/** Content of one or several rows, read from the table. */
export interface Item {
  readonly number: number
  /** tokens: shown tokens. fold: equal tokens in one row. divider: a thinner fold, used if only differences are shown. */
  readonly kind: 'tokens' | 'fold' | 'divider'
  /** Aligned runs that the item shows in whole or in part, half-open. */
  readonly runNumbers: Span
  readonly left: Span
  readonly right: Span
  /** Lines of each side, half-open. In one column, equal tokens have only lines of the left, which represent both sides. */
  readonly lines: Readonly<Record<SideName, Span>>
  /** Whether a line is drawn above the item and its position is shown. */
  readonly startsBlock: boolean
  /** Whether the item is an unfolded run that can be folded again. */
  readonly isOpened: boolean
  readonly firstRow: number
  readonly rows: number
  /** Tops of the item and of its first row, in pixels. */
  readonly top: number
  readonly rowTop: number
  readonly height: number
}

/** Offsets of the fields of an item in the table. */
export const OFFSETS = {
  kind: 0,
  run: 1,
  runEnd: 2,
  left: 3,
  leftEnd: 4,
  right: 5,
  rightEnd: 6,
  leftLine: 7,
  leftLineEnd: 8,
  rightLine: 9,
  rightLineEnd: 10,
  row: 11,
  flags: 12,
} as const
/** Numbers per item in the table. */
export const FIELDS = 13
/** Kinds of items; the table stores the index. */
export const KINDS = ['tokens', 'fold', 'divider'] as const
/** Flag of an item that begins a block. */
export const STARTS_BLOCK = 1
/** Flag of an item that is an unfolded run. */
export const IS_OPENED = 2

/** Gap above a block in pixels; half of it belongs to the previous block. */
export const BLOCK_GAP = 12
/** Gap below the last item, in pixels. */
export const END_GAP = 12
/** Height of a divider in pixels. */
export const DIVIDER_HEIGHT = 22
/** Gap below a block with a single row, in pixels, because its gutter contains three lines of text. */
export const SHORT_BLOCK_GAP = 14

/** Reads an item from the table by its number. */
export function itemAt(rows: Rows, number: number): Item {
  const { items, tops, itemCount, rowCount } = rows
  const at = number * FIELDS
  const field = (name: number) => int32At(items, at + name)
  const firstRow = field(OFFSETS.row)
  const flags = field(OFFSETS.flags)
  const top = float64At(tops, number)
  const isLast = number + 1 >= itemCount
  const startsBlock = (flags & STARTS_BLOCK) !== 0
  const kind = KINDS[field(OFFSETS.kind)] as Item['kind']
  const rowTop = top + (startsBlock && kind !== 'divider' ? BLOCK_GAP : 0)
  const count = (isLast ? rowCount : int32At(items, at + FIELDS + OFFSETS.row)) - firstRow
  return {
    number,
    kind,
    runNumbers: { start: field(OFFSETS.run), end: field(OFFSETS.runEnd) },
    left: { start: field(OFFSETS.left), end: field(OFFSETS.leftEnd) },
    right: { start: field(OFFSETS.right), end: field(OFFSETS.rightEnd) },
    lines: {
      left: { start: field(OFFSETS.leftLine), end: field(OFFSETS.leftLineEnd) },
      right: { start: field(OFFSETS.rightLine), end: field(OFFSETS.rightLineEnd) },
    },
    startsBlock,
    isOpened: (flags & IS_OPENED) !== 0,
    firstRow,
    rows: count,
    top,
    rowTop,
    height: (isLast ? rows.height - END_GAP : float64At(tops, number + 1)) - top,
  }
}

/** Returns the item at a height in pixels, or the nearest one; undefined if there are no items. */
export function itemAtHeight(rows: Rows, height: number): Item | undefined {
  if (rows.itemCount === 0) return undefined
  const begun = countWhile(rows.itemCount, (number) => float64At(rows.tops, number) <= height)
  return itemAt(rows, Math.max(0, begun - 1))
}

/** Returns the items that overlap the range between two heights in pixels. */
export function itemsBetween(rows: Rows, top: number, bottom: number): readonly Item[] {
  const items: Item[] = []
  for (let item = itemAtHeight(rows, top); item && item.top <= bottom; ) {
    items.push(item)
    item = item.number + 1 < rows.itemCount ? itemAt(rows, item.number + 1) : undefined
  }
  return items
}

/** Returns the item that contains a token, shown or folded; undefined if there is no such token. */
export function itemOfToken(rows: Rows, side: SideName, token: number): Item | undefined {
  if (token < 0 || token >= tokenCountOf(rows.sides[side])) return undefined
  const field = side === 'left' ? OFFSETS.left : OFFSETS.right
  const begun = countWhile(rows.itemCount, (number) => (rows.items[number * FIELDS + field] as number) <= token)
  return itemAt(rows, begun - 1)
}

/** Returns the item that contains a row; undefined if there is no such row. */
export function itemOfRow(rows: Rows, row: number): Item | undefined {
  if (row < 0 || row >= rows.rowCount) return undefined
  const begun = countWhile(rows.itemCount, (number) => (rows.items[number * FIELDS + OFFSETS.row] as number) <= row)
  return itemAt(rows, begun - 1)
}

/** Returns the number of tokens of a side. */
export const tokenCountOf = ({ starts }: RowSide): number => starts.at(-1) as number

/** Returns the line that a side has in a row of the item; undefined if it has none. */
function lineInRow(rows: Rows, item: Item, row: number, side: SideName): number | undefined {
  const { start, end } = item.lines[side]
  const above = rows.arrangement === 'unified' && side === 'right' ? item.lines.left.end - item.lines.left.start : 0
  const line = start + row - above
  return item.kind === 'tokens' && line >= start && line < end ? line : undefined
}

/** Returns the row of the item in which a token is drawn, and the side whose line draws it. */
export function rowInItem(
  rows: Rows,
  item: Item,
  side: SideName,
  token: number,
): { readonly row: number; readonly side: SideName; readonly token: number } {
  if (item.kind !== 'tokens') return { row: 0, side, token }
  const isDrawnLeft = rows.arrangement === 'unified' && side === 'right' && isSharedItem(item)
  const drawn = isDrawnLeft ? 'left' : side
  const drawnToken = isDrawnLeft ? token - item.right.start + item.left.start : token
  const { start, end } = item.lines[drawn]
  const starts = rows.lines[drawn]
  const line = countWhile(end - start, (index) => int32At(starts, start + index) <= drawnToken) - 1
  const above = rows.arrangement === 'unified' && drawn === 'right' ? item.lines.left.end - item.lines.left.start : 0
  return { row: Math.max(0, line) + above, side: drawn, token: drawnToken }
}

/** Returns whether an item of one column contains equal tokens, which the left's lines show for both sides. */
const isSharedItem = ({ lines, right }: Item): boolean =>
  lines.right.end === lines.right.start && right.end > right.start

/** Returns the line of a side in a row of the item; undefined if it has none. Lines do not cross segments. */
export function drawnLine(rows: Rows, item: Item, row: number, side: SideName): DrawnLine | undefined {
  const line = lineInRow(rows, item, row, side)
  if (line === undefined) return undefined
  const { segments, starts } = rows.sides[side]
  const { start, end } = lineTokens(rows, item, side, line)
  const segmentIndex = segmentIndexAt(starts, start)
  const firstToken = elementAt(starts, segmentIndex)
  return {
    number: item.firstRow + row,
    segmentIndex,
    layout: { segment: segments[segmentIndex] as SegmentView, firstToken, folds: undefined },
    start: start - firstToken,
    end: end - firstToken,
    top: item.rowTop + row * rows.rowHeight,
    isFolded: false,
  }
}

/** Returns the tokens of a line, half-open, as indexes from the start of the side. */
function lineTokens(rows: Rows, item: Item, side: SideName, line: number): Span {
  const starts = rows.lines[side]
  const end = line + 1 < item.lines[side].end ? int32At(starts, line + 1) : item[side].end
  return { start: int32At(starts, line), end }
}
