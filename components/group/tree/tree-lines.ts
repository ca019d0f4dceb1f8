/** Finds lines and tokens of the tree: for drawing, for the pointer and for the keys. */
import { cellsOf, type DrawnLine, type LineSpace, tokenAtColumn } from '#components/token-view/grid/layout.ts'
import type { RowPicture } from '#components/token-view/grid/token-picture.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt, float64At, int32At } from '#lib/util/element-at.ts'
import type { TreeSpot } from '../tree.ts'
import {
  itemIndexAtHeight,
  itemOfSpot,
  rowOfToken,
  type TreeItem,
  type TreeRows,
  tokensOfItem,
  tokensOfItemLine,
} from './rows.ts'
import type { TreePicture } from './tree-picture.ts'

/** Share of the columns that the tokens of a folded branch may take, before the text of the fold. */
const FOLDED_SHARE = 0.4

/** Returns a line of an item as the token view draws it. */
export function drawnLineOf(
  rows: TreeRows,
  index: number,
  row: number,
  { trajectory, layout }: Pick<RowPicture, 'trajectory' | 'layout'>,
): DrawnLine | undefined {
  const item = elementAt(rows.items, index)
  if (item.kind !== 'tokens') return undefined
  const segment = segmentsOf(trajectory)[item.segment]
  const firstToken = segmentStarts(trajectory)[item.segment]
  if (!segment || firstToken === undefined) return undefined
  const tokens = tokensOfItemLine(item, row)
  const start = tokens.start - firstToken
  const end = tokens.end - firstToken
  return {
    number: int32At(rows.firstRows, index) + row,
    segmentIndex: item.segment,
    layout: { segment, firstToken, folds: undefined },
    start,
    end: item.isFolded ? foldedEnd(segment, layout, { start, end }) : end,
    top: float64At(rows.tops, index) + row * rows.rowHeight,
    isFolded: false,
  }
}

/** Returns the end of the tokens that a folded branch shows, at least one. */
function foldedEnd({ ids }: SegmentView, space: LineSpace, { start, end }: Span): number {
  let cells = 0
  for (let at = start; at < end; at++) {
    cells += cellsOf(space, ids, at)
    if (cells > space.columns * FOLDED_SHARE) return Math.max(at, start + 1)
  }
  return end
}

/** Returns the line that shows a token; undefined if the token is in a fold, or is not loaded. */
export function lineOfSpot({ rows, pictureOf }: TreePicture, spot: TreeSpot): DrawnLine | undefined {
  const index = itemOfSpot(rows, spot)
  const item = rows.items[index]
  const branch = rows.tree.branches[spot.branch]
  const picture = branch && pictureOf(branch)
  if (item?.kind !== 'tokens' || item.branch !== spot.branch || !picture) return undefined
  const line = drawnLineOf(rows, index, rowOfToken(item, spot.token), picture)
  const offset = spot.token - (line?.layout.firstToken ?? 0)
  return line && offset >= line.start && offset < line.end ? line : undefined
}

/** What is at a position of the tree. */
export interface TreePlace {
  readonly item: TreeItem
  /** The token there; undefined beside the tokens and for other items. */
  readonly spot: TreeSpot | undefined
}

/** Returns what is at a position, in pixels from the top left of the rows. */
export function placeAt(picture: TreePicture, left: number, top: number): TreePlace | undefined {
  const { rows, cell, indentOf, pictureOf } = picture
  const index = itemIndexAtHeight(rows, top)
  const item = rows.items[index]
  if (!item) return undefined
  const row = Math.floor((top - float64At(rows.tops, index)) / rows.rowHeight)
  if (row < 0 || row >= item.rows) return undefined
  const branch = elementAt(rows.tree.branches, item.branch)
  const column = Math.floor((left - indentOf(branch)) / cell)
  const drawn = pictureOf(branch)
  const line = column < 0 || !drawn ? undefined : drawnLineOf(rows, index, row, drawn)
  if (!line || !drawn) return { item, spot: undefined }
  if (item.kind === 'tokens' && item.isFolded && column >= widthOf(drawn.layout, line)) return { item, spot: undefined }
  const token = tokenAtColumn(drawn.layout, line, column)
  return { item, spot: token < 0 ? undefined : { branch: item.branch, token } }
}

/** Returns the width of a line, in cells. */
export function widthOf(space: LineSpace, { layout: { segment }, start, end }: DrawnLine): number {
  let cells = 0
  for (let at = start; at < end; at++) cells += cellsOf(space, segment.ids, at)
  return cells
}

/** Returns the first token of a row of the tree; undefined for a head. */
export function spotOfRow(rows: TreeRows, row: number): TreeSpot | undefined {
  const index = itemIndexOfRow(rows, row)
  const item = rows.items[index]
  if (!item || item.kind === 'head') return undefined
  const tokens =
    item.kind === 'tokens' ? tokensOfItemLine(item, row - int32At(rows.firstRows, index)) : tokensOfItem(rows, index)
  return tokens && tokens.end > tokens.start ? { branch: item.branch, token: tokens.start } : undefined
}

/** Returns the index of the item that contains a row. */
export const itemIndexOfRow = ({ firstRows, items }: TreeRows, row: number): number =>
  Math.max(0, countWhile(items.length, (index) => int32At(firstRows, index) <= row) - 1)
