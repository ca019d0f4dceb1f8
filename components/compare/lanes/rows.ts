/**
 * The rows that two sides stand in, token beside token. Items are stored by number in one table: a stretch of equal tokens
 * that is folded away, or tokens of both sides that are shown. Of lines only their first tokens are stored. Pure.
 */

import type { DrawnLine } from '#components/token-view/grid/layout.ts'
import type { PieceTable } from '#components/token-view/pieces/piece-table.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { AlignedRun } from '#lib/trajectory/drift/align.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { segmentIndexAt } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** Finds the segment that holds a token: −1 where none does. Asked in order, it looks only at the one before and the next. */
export function segmentFinder({ starts }: Pick<RowSide, 'starts'>): (token: number) => number {
  let last = 0
  return (token) => {
    if (token >= elementAt(starts, last) && token < (starts[last + 1] ?? 0)) return last
    const found = segmentIndexAt(starts, token)
    if (found >= 0) last = found
    return found
  }
}

export const SIDES = ['left', 'right'] as const
export const otherSide = (side: SideName): SideName => (side === 'left' ? 'right' : 'left')

/** A side as its rows are made of it. */
export interface RowSide {
  readonly segments: readonly SegmentView[]
  /** Position of the first token of each segment, and after the last one the number of tokens. */
  readonly starts: readonly number[]
  readonly table: PieceTable
}

export interface Rows {
  /** lanes: both sides beside each other. unified: one column, equal tokens once, then the left's, then the right's. */
  readonly arrangement: 'lanes' | 'unified'
  readonly sides: Readonly<Record<SideName, RowSide>>
  readonly stretches: readonly AlignedRun[]
  readonly columns: number
  /** In pixels. */
  readonly rowHeight: number
  readonly height: number
  readonly rowCount: number
  readonly itemCount: number
  /** FIELDS numbers for each item. */
  readonly items: Int32Array
  /** Where each item begins, in pixels. */
  readonly tops: Float64Array
  /** First token of each line of a side, counted from its first of all. */
  readonly lines: Readonly<Record<SideName, Int32Array>>
}

/** What stands in one or several rows, found again by number. */
export interface Item {
  readonly number: number
  /** tokens: shown. fold: equal tokens in one row. divider: the same, thinner, where only differences are wanted. */
  readonly kind: 'tokens' | 'fold' | 'divider'
  /** Stretches that it shows, or parts of them, half-open. */
  readonly stretches: Span
  readonly left: Span
  readonly right: Span
  /** Lines, half-open. In one column none of the right where both are equal: the left's stand for both. */
  readonly lines: Readonly<Record<SideName, Span>>
  /** A line is drawn above it, and its position is told. */
  readonly startsBlock: boolean
  /** Equal tokens that were folded and can be again. */
  readonly isOpened: boolean
  readonly firstRow: number
  readonly rows: number
  /** In pixels: of the item, and of its first row. */
  readonly top: number
  readonly rowTop: number
  readonly height: number
}

/** Of an item in the table, in the order in which make-rows.ts writes them. */
const KIND = 0
const STRETCH = 1
const STRETCH_END = 2
const LEFT = 3
const LEFT_END = 4
const RIGHT = 5
const RIGHT_END = 6
const LEFT_LINE = 7
const LEFT_LINE_END = 8
const RIGHT_LINE = 9
const RIGHT_LINE_END = 10
const ROW = 11
const FLAGS = 12
export const FIELDS = 13
export const KINDS = ['tokens', 'fold', 'divider'] as const
export const STARTS_BLOCK = 1
export const IS_OPENED = 2

/** Above a block, in pixels; half of it belongs to the block before. */
export const BLOCK_GAP = 12
/** Below the last item. */
export const END_GAP = 12
/** Of a divider, in pixels. */
export const DIVIDER_HEIGHT = 22
/** Below the only row of a block, in pixels: its gutter says three things. */
export const SHORT_BLOCK_GAP = 14

export function itemAt(rows: Rows, number: number): Item {
  const { items, tops, itemCount, rowCount } = rows
  const at = number * FIELDS
  const field = (name: number) => elementAt(items, at + name)
  const firstRow = field(ROW)
  const flags = field(FLAGS)
  const top = elementAt(tops, number)
  const isLast = number + 1 >= itemCount
  const startsBlock = (flags & STARTS_BLOCK) !== 0
  const kind = KINDS[field(KIND)] as Item['kind']
  const rowTop = top + (startsBlock && kind !== 'divider' ? BLOCK_GAP : 0)
  const count = (isLast ? rowCount : elementAt(items, at + FIELDS + ROW)) - firstRow
  return {
    number,
    kind,
    stretches: { start: field(STRETCH), end: field(STRETCH_END) },
    left: { start: field(LEFT), end: field(LEFT_END) },
    right: { start: field(RIGHT), end: field(RIGHT_END) },
    lines: {
      left: { start: field(LEFT_LINE), end: field(LEFT_LINE_END) },
      right: { start: field(RIGHT_LINE), end: field(RIGHT_LINE_END) },
    },
    startsBlock,
    isOpened: (flags & IS_OPENED) !== 0,
    firstRow,
    rows: count,
    top,
    rowTop,
    height: (isLast ? rows.height - END_GAP : elementAt(tops, number + 1)) - top,
  }
}

/** The item at a height: the first one above all, the last one below; undefined when there is none. */
export function itemAtHeight(rows: Rows, height: number): Item | undefined {
  if (rows.itemCount === 0) return undefined
  const begun = countWhile(rows.itemCount, (number) => elementAt(rows.tops, number) <= height)
  return itemAt(rows, Math.max(0, begun - 1))
}

/** Items that lie, even in part, between two heights. */
export function itemsBetween(rows: Rows, top: number, bottom: number): readonly Item[] {
  const items: Item[] = []
  for (let item = itemAtHeight(rows, top); item && item.top <= bottom; ) {
    items.push(item)
    item = item.number + 1 < rows.itemCount ? itemAt(rows, item.number + 1) : undefined
  }
  return items
}

/** The item that a token stands in, shown or folded; undefined when there is no such token. */
export function itemOfToken(rows: Rows, side: SideName, token: number): Item | undefined {
  if (token < 0 || token >= tokensOf(rows.sides[side])) return undefined
  const field = side === 'left' ? LEFT : RIGHT
  const begun = countWhile(rows.itemCount, (number) => (rows.items[number * FIELDS + field] as number) <= token)
  return itemAt(rows, begun - 1)
}

/** The item that holds a row. */
export function itemOfRow(rows: Rows, row: number): Item | undefined {
  if (row < 0 || row >= rows.rowCount) return undefined
  const begun = countWhile(rows.itemCount, (number) => (rows.items[number * FIELDS + ROW] as number) <= row)
  return itemAt(rows, begun - 1)
}

export const tokensOf = ({ starts }: RowSide): number => starts.at(-1) as number

/** One row of an item: which line of a side stands there, undefined where none does. */
function lineInRow(rows: Rows, item: Item, row: number, side: SideName): number | undefined {
  const { start, end } = item.lines[side]
  const above = rows.arrangement === 'unified' && side === 'right' ? item.lines.left.end - item.lines.left.start : 0
  const line = start + row - above
  return item.kind === 'tokens' && line >= start && line < end ? line : undefined
}

/** Row of the item in which a token of it stands, on the side whose line it is drawn in. */
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
  const line = countWhile(end - start, (index) => elementAt(starts, start + index) <= drawnToken) - 1
  const above = rows.arrangement === 'unified' && drawn === 'right' ? item.lines.left.end - item.lines.left.start : 0
  return { row: Math.max(0, line) + above, side: drawn, token: drawnToken }
}

/** In one column: equal tokens, which the left's lines show for both sides. */
const isSharedItem = ({ lines, right }: Item): boolean =>
  lines.right.end === lines.right.start && right.end > right.start

/** The line of a side as it is drawn. Lines do not cross segments. */
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

/** Tokens of a line, half-open, counted from the side's first. */
function lineTokens(rows: Rows, item: Item, side: SideName, line: number): Span {
  const starts = rows.lines[side]
  const end = line + 1 < item.lines[side].end ? elementAt(starts, line + 1) : item[side].end
  return { start: elementAt(starts, line), end }
}
