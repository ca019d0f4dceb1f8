/** How many equal tokens beside a drift span stay visible when others are folded: about one line, within the segment. */

import { cellsOf } from '#components/token-view/grid/layout.ts'
import { ENDS_LINE } from '#components/token-view/pieces/piece-table.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { RowSide } from './rows.ts'

/** A side with a function that returns the segment of a token (`segmentFinder`). */
export interface ReadSide extends RowSide {
  readonly segmentAt: (token: number) => number
}

type Sides = Readonly<Record<SideName, ReadSide>>
type Places = Readonly<Record<SideName, number>>

/**
 * Returns how many tokens after a span stay visible: to the end of the text's line or of the drawn line,
 * or of the next drawn line if this one has little room.
 */
export function countVisibleAfter(
  { left, right }: Sides,
  at: Places,
  length: number,
  column: number,
  columns: number,
): number {
  const most = Math.min(length, boundaryAfter({ left, right }, at.left, at.right))
  const room = columns - column >= columns / 4 ? columns : 2 * columns
  let cells = column
  for (let count = 0; count < most; count++) {
    const { width, endsLine } = tokenWidth(left, at.left + count, columns)
    if (cells + width > room) return count
    cells += width
    if (endsLine) return count + 1
  }
  return most
}

/**
 * Returns how many tokens before a span stay visible: from the start of the text's line, at most half a drawn line.
 * If the span begins a line, tokens of the line before are visible.
 */
export function countVisibleBefore({ left, right }: Sides, behind: Places, length: number, columns: number): number {
  const most = Math.min(length, tokensSinceBoundary(left, behind.left), tokensSinceBoundary(right, behind.right))
  let cells = 0
  for (let count = 0; count < most; count++) {
    const { width, endsLine } = tokenWidth(left, behind.left - count - 1, columns)
    cells += width
    if (cells > columns / 2 || (count > 0 && endsLine)) return count
  }
  return most
}

/** Returns whether a segment of either side begins at these tokens. */
export const startsSegment = ({ left, right }: Sides, l: number, r: number): boolean =>
  isSegmentStart(left, l) || isSegmentStart(right, r)

/** Returns how many tokens follow before a segment of either side ends. */
export const boundaryAfter = ({ left, right }: Sides, l: number, r: number): number =>
  Math.min(tokensToBoundary(left, l), tokensToBoundary(right, r))

/** Returns whether the tokens need more than `cells` cells or more than one line. */
export function isWide(side: ReadSide, { start, end }: Span, cells: number): boolean {
  let wanted = 0
  for (let token = start; token < end; token++) {
    const { width, endsLine } = tokenWidth(side, token, Number.MAX_SAFE_INTEGER)
    wanted += width
    if (wanted > cells || endsLine) return true
  }
  return false
}

const isSegmentStart = ({ starts, segmentAt }: ReadSide, token: number): boolean => starts[segmentAt(token)] === token

const tokensToBoundary = ({ starts, segmentAt }: ReadSide, token: number): number =>
  elementAt(starts, segmentAt(token) + 1) - token

const tokensSinceBoundary = ({ starts, segmentAt }: ReadSide, behind: number): number =>
  behind - elementAt(starts, segmentAt(behind - 1))

function tokenWidth({ segments, starts, table, segmentAt }: ReadSide, token: number, columns: number) {
  const segment = segmentAt(token)
  const { ids } = elementAt(segments, segment)
  const index = token - elementAt(starts, segment)
  const endsLine = (table.widthOf(ids[index] as number) & ENDS_LINE) !== 0
  return { width: cellsOf({ table, columns }, ids, index), endsLine }
}
