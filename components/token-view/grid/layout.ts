/**
 * Breaks the tokens of a trajectory into lines. Only the first token of each line is stored; columns are counted for visible
 * lines. The lines of a segment depend on nothing else, so those of a closed segment are kept, and a growing segment keeps
 * its earlier lines.
 */

import type { Span, Vocab } from '#lib/trajectory/format/trajectory.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt, int32At } from '#lib/util/element-at.ts'
import { type Folds, NO_FOLDS } from '../grid-options.ts'
import { CELLS, IS_PART, type PieceTable } from '../pieces/piece-table.ts'
import { type BoxedImage, foldedLines, type SegmentLines } from './line-folds.ts'
import { createLineStore, type LineStore } from './line-store.ts'

/** The lines of a trajectory at one width and font size. */
export interface Layout {
  readonly columns: number
  /** Height of a line, in pixels. */
  readonly rowHeight: number
  readonly table: PieceTable
  readonly segments: readonly SegmentLayout[]
  readonly tokenCount: number
  readonly lineCount: number
  /** Height of all lines, in pixels. */
  readonly height: number
}

interface SegmentLayout extends SegmentLines {
  readonly segment: SegmentView
  /** Index of the first token in the trajectory, index of the first line in the layout, and top edge in pixels. */
  readonly firstToken: number
  readonly firstLine: number
  readonly top: number
  readonly height: number
}

/** The measures that a line of tokens is drawn with. */
export type LineSpace = Pick<Layout, 'columns' | 'rowHeight' | 'table'>

/** A line of a segment's tokens, in the token view or in a lane. */
export interface DrawnLine {
  readonly number: number
  readonly segmentIndex: number
  readonly layout: Pick<SegmentLayout, 'segment' | 'firstToken' | 'folds'>
  /** Tokens of the line as offsets in the segment, half-open. */
  readonly start: number
  readonly end: number
  readonly top: number
  /** Whether the line replaces folded tokens. */
  readonly isFolded: boolean
  /** The image of which the line is a part. */
  readonly image?: BoxedImage | undefined
}

/** A line of a layout; `number` identifies it in the whole layout. */
export interface Line extends DrawnLine {
  readonly layout: SegmentLayout
}

/** Height of a line at the default font size, in pixels. */
export const DEFAULT_ROW_HEIGHT = 24
/** Space above and below the lines of a segment, in pixels. */
export const SEGMENT_PADDING = 12
/** Space above and below the line of a folded segment, in pixels. */
const FOLDED_PADDING = 2
/** Smallest height of a segment in lines: the text in its rail needs as much. */
const SMALLEST_SEGMENT_LINES = 3

/** Settings of a layout, besides the trajectory. */
interface LayoutSettings {
  readonly columns: number
  readonly rowHeight: number
  readonly folds: Folds
  /** Returns the boxes of the images of a segment, by its index. If omitted, there are none. */
  readonly images?: (segmentIndex: number) => readonly BoxedImage[]
}

/** Lays out segments; see createLayoutMaker. */
export type LayoutMaker = (segments: readonly SegmentView[], vocab: Vocab, settings: LayoutSettings) => Layout

/**
 * Returns a function that makes layouts in one font. Segments that have not changed keep their lines from the layout before:
 * the work is proportional to the new tokens, plus a comparison for each segment.
 */
export function createLayoutMaker(table: PieceTable): LayoutMaker {
  let store: LineStore | undefined
  let builtFor: { readonly columns: number; readonly version: number } | undefined
  let last: { readonly layout: Layout; readonly folds: Folds } | undefined
  return (segments, vocab, { columns, rowHeight, folds, images = noImages }) => {
    table.takeVocab(vocab)
    if (!store || builtFor?.columns !== columns || builtFor.version !== table.version()) {
      builtFor = { columns, version: table.version() }
      store = createLineStore(table, columns)
      last = undefined
    }
    const before = last?.folds === folds && last.layout.rowHeight === rowHeight ? last.layout.segments : []
    const lines = store
    const layouts = before.slice(0, sharedStart(before, segments))
    const end = layouts.at(-1)
    let firstToken = end ? end.firstToken + end.tokenCount : 0
    let firstLine = end ? end.firstLine + end.lineCount : 0
    let top = end ? end.top + end.height : 0
    for (let index = layouts.length; index < segments.length; index++) {
      const segment = elementAt(segments, index)
      const first = firstToken
      const visibleLines = foldedLines(
        lines.linesOf(segment),
        segment,
        folds.segments.has(index),
        first,
        folds.thinks,
        images(index).filter(({ start }) => !folds.openImages?.has(first + start)),
      )
      const height = segmentHeight(visibleLines, rowHeight)
      layouts.push({ ...visibleLines, segment, firstToken, firstLine, top, height })
      firstToken += visibleLines.tokenCount
      firstLine += visibleLines.lineCount
      top += height
    }
    const layout = {
      columns,
      rowHeight,
      table,
      segments: layouts,
      tokenCount: firstToken,
      lineCount: firstLine,
      height: top,
    }
    last = { layout, folds }
    return layout
  }
}

const noImages = (): readonly BoxedImage[] => []

/** Settings without folds, at the default line height. */
export const UNFOLDED = { rowHeight: DEFAULT_ROW_HEIGHT, folds: NO_FOLDS } as const

/** Returns the number of leading segments that have not changed. */
function sharedStart(before: readonly SegmentLayout[], segments: readonly SegmentView[]): number {
  const most = Math.min(before.length, segments.length)
  for (let index = 0; index < most; index++) if (before[index]?.segment !== segments[index]) return index
  return most
}

const isFoldedSegment = ({ folds }: SegmentLines): boolean => folds?.whole === true

const paddingOf = (lines: SegmentLines): number => (isFoldedSegment(lines) ? FOLDED_PADDING : SEGMENT_PADDING)

function segmentHeight(lines: SegmentLines, rowHeight: number): number {
  const rows = isFoldedSegment(lines) ? 1 : Math.max(lines.lineCount, SMALLEST_SEGMENT_LINES)
  return rows * rowHeight + 2 * paddingOf(lines)
}

/** Returns the lines that overlap the range of heights, in pixels. */
export function linesBetween(layout: Layout, top: number, bottom: number): Line[] {
  const lines: Line[] = []
  for (let index = Math.max(0, segmentAtHeight(layout, top)); index < layout.segments.length; index++) {
    const segment = elementAt(layout.segments, index)
    if (segment.top > bottom) break
    const inner = segment.top + paddingOf(segment)
    const first = Math.max(0, Math.floor((top - inner) / layout.rowHeight))
    const last = Math.min(segment.lineCount - 1, Math.floor((bottom - inner) / layout.rowHeight))
    for (let number = first; number <= last; number++) lines.push(lineOf(layout, index, number))
  }
  return lines
}

/** Returns the tokens of the lines that overlap the range of heights, half-open, as indices in the trajectory. */
export function tokensBetween(layout: Layout, top: number, bottom: number): Span {
  const lines = linesBetween(layout, top, bottom)
  const [first, last] = [lines[0], lines.at(-1)]
  if (!first || !last) return { start: 0, end: 0 }
  return { start: first.layout.firstToken + first.start, end: last.layout.firstToken + last.end }
}

/** Returns the indices of the segments that overlap the range of heights, half-open. */
export function segmentsBetween(layout: Layout, top: number, bottom: number): Span {
  return { start: Math.max(0, segmentAtHeight(layout, top)), end: segmentAtHeight(layout, bottom) + 1 }
}

/** Returns the line that contains a token; undefined if there is no such token. */
export function lineOfToken(layout: Layout, tokenIndex: number): Line | undefined {
  const index = lastAtMost(layout.segments.length, tokenIndex, (at) => layout.segments[at]?.firstToken ?? 0)
  const segment = layout.segments[index]
  if (!segment || tokenIndex >= segment.firstToken + segment.tokenCount) return undefined
  const offset = tokenIndex - segment.firstToken
  return lineOf(
    layout,
    index,
    lastAtMost(segment.lineCount, offset, (at) => int32At(segment.starts, at)),
  )
}

/** Returns the line with this number in the layout; undefined if there is none. */
export function lineNumbered(layout: Layout, number: number): Line | undefined {
  if (number < 0 || number >= layout.lineCount) return undefined
  const index = lastAtMost(layout.segments.length, number, (at) => layout.segments[at]?.firstLine ?? 0)
  return lineOf(layout, index, number - elementAt(layout.segments, index).firstLine)
}

/** Returns the line at a height in pixels; undefined in the space between segments. */
export function lineAtHeight(layout: Layout, height: number): Line | undefined {
  const index = segmentAtHeight(layout, height)
  const segment = layout.segments[index]
  if (!segment) return undefined
  const number = Math.floor((height - segment.top - paddingOf(segment)) / layout.rowHeight)
  return number >= 0 && number < segment.lineCount ? lineOf(layout, index, number) : undefined
}

/** Returns the width of a token in cells, at most one line. */
export function cellsOf(
  { table, columns }: Pick<LineSpace, 'columns' | 'table'>,
  ids: ArrayLike<number>,
  index: number,
): number {
  const width = table.widthOf(elementAt(ids, index))
  return Math.min(columns, (width & IS_PART) === 0 ? width & CELLS : table.partCells(ids, index))
}

/** Returns the column at which a token begins; `index` counts in the trajectory. */
export function columnOfToken(layout: LineSpace, line: DrawnLine, index: number): number {
  const { ids } = line.layout.segment
  const end = index - line.layout.firstToken
  let column = 0
  for (let at = line.start; at < end; at++) column += cellsOf(layout, ids, at)
  return column
}

/** Returns the index of the token at a column, or of the nearest one; -1 for a line without tokens. */
export function tokenAtColumn(layout: LineSpace, line: DrawnLine, column: number): number {
  const { ids } = line.layout.segment
  if (line.end === line.start) return -1
  let at = line.start
  if (line.isFolded) return line.layout.firstToken + at
  for (let next = cellsOf(layout, ids, at); next <= column && at + 1 < line.end; next += cellsOf(layout, ids, at)) at++
  return line.layout.firstToken + at
}

function lineOf(layout: Layout, segmentIndex: number, number: number): Line {
  const segment = elementAt(layout.segments, segmentIndex)
  return {
    number: segment.firstLine + number,
    segmentIndex,
    layout: segment,
    start: segment.starts[number] as number,
    end: number + 1 < segment.lineCount ? (segment.starts[number + 1] as number) : segment.tokenCount,
    top: segment.top + paddingOf(segment) + number * layout.rowHeight,
    isFolded: segment.folds?.lines.has(number) ?? false,
    image: segment.folds?.images.get(number),
  }
}

const segmentAtHeight = (layout: Layout, height: number): number =>
  lastAtMost(layout.segments.length, height, (at) => layout.segments[at]?.top ?? 0)

/** Returns the index of the last of `count` sorted keys that is at most the value; -1 if there is none. */
function lastAtMost(count: number, value: number, key: (index: number) => number): number {
  return countWhile(count, (index) => key(index) <= value) - 1
}
