/**
 * Breaks the tokens of a trajectory into lines. A segment's lines depend on nothing else, so those of a closed segment
 * are kept: while a response grows, only its own are laid out again.
 */

import type { Vocab } from '#lib/core/trajectory.ts'
import type { SegmentView } from '#lib/core/trajectory-view.ts'
import type { PieceTable } from './piece-table.ts'

export interface Layout {
  readonly columns: number
  readonly segments: readonly SegmentLayout[]
  readonly lineCount: number
  readonly height: number
}

export interface SegmentLayout extends SegmentLines {
  readonly segment: SegmentView
  /** Index of its first token in the trajectory, of its first line in the layout, and where that begins. */
  readonly firstToken: number
  readonly firstLine: number
  readonly top: number
}

export interface SegmentLines {
  /** Index in the segment of the first token of each line, and after the last line the number of tokens. */
  readonly starts: readonly number[]
  /** Column at which each token begins. */
  readonly columns: readonly number[]
}

/** One line, found again by number. */
export interface Line {
  readonly number: number
  readonly segmentIndex: number
  readonly layout: SegmentLayout
  /** Tokens of the segment, half-open. */
  readonly start: number
  readonly end: number
  readonly top: number
}

export const ROW_HEIGHT = 24
/** Above and below the lines of each segment. */
export const SEGMENT_PADDING = 12
/** A segment is at least as tall as what its rail says. */
const SMALLEST_SEGMENT_LINES = 3

export function layoutTrajectory(
  segments: readonly SegmentView[],
  vocab: Vocab,
  table: PieceTable,
  columns: number,
  cache: LayoutCache,
): Layout {
  let firstToken = 0
  let firstLine = 0
  let top = 0
  const layouts = segments.map((segment): SegmentLayout => {
    const lines = cache.lines(segment, () => breakLines(segment.ids, vocab, table, columns))
    const layout = { ...lines, segment, firstToken, firstLine, top }
    firstToken += segment.ids.length
    firstLine += lines.starts.length - 1
    top += segmentHeight(lines)
    return layout
  })
  return { columns, segments: layouts, lineCount: firstLine, height: top }
}

export interface LayoutCache {
  lines(segment: SegmentView, make: () => SegmentLines): SegmentLines
}

/** For one width and one font: make another when either changes. */
export function createLayoutCache(): LayoutCache {
  const known = new WeakMap<SegmentView, SegmentLines>()
  return {
    lines(segment, make) {
      const found = known.get(segment) ?? make()
      known.set(segment, found)
      return found
    },
  }
}

export const segmentHeight = ({ starts }: SegmentLines): number =>
  Math.max(starts.length - 1, SMALLEST_SEGMENT_LINES) * ROW_HEIGHT + 2 * SEGMENT_PADDING

/** A token that holds a line break ends its line; one that does not fit begins the next. */
export function breakLines(ids: ArrayLike<number>, vocab: Vocab, table: PieceTable, columns: number): SegmentLines {
  const starts = [0]
  const offsets: number[] = []
  let column = 0
  for (let index = 0; index < ids.length; index++) {
    const id = ids[index] as number
    const { cells, endsLine } = table.piece(id, vocab)
    if (column > 0 && column + cells > columns) {
      starts.push(index)
      column = 0
    }
    offsets.push(column)
    column += cells
    if (endsLine && index + 1 < ids.length) {
      starts.push(index + 1)
      column = 0
    }
  }
  starts.push(ids.length)
  return { starts, columns: offsets }
}

/** Lines that lie, even in part, between two heights. */
export function linesBetween(layout: Layout, top: number, bottom: number): Line[] {
  const lines: Line[] = []
  for (let index = Math.max(0, segmentAtHeight(layout, top)); index < layout.segments.length; index++) {
    const segment = layout.segments[index] as SegmentLayout
    if (segment.top > bottom) break
    const inner = segment.top + SEGMENT_PADDING
    const first = Math.max(0, Math.floor((top - inner) / ROW_HEIGHT))
    const last = Math.min(segment.starts.length - 2, Math.floor((bottom - inner) / ROW_HEIGHT))
    for (let number = first; number <= last; number++) lines.push(lineOf(segment, index, number))
  }
  return lines
}

/** The line that holds a token; undefined when there is no such token. */
export function lineOfToken(layout: Layout, tokenIndex: number): Line | undefined {
  const index = lastAtMost(layout.segments, tokenIndex, ({ firstToken }) => firstToken)
  const segment = layout.segments[index]
  if (!segment || tokenIndex >= segment.firstToken + segment.segment.ids.length) return undefined
  const number = Math.min(
    lastAtMost(segment.starts, tokenIndex - segment.firstToken, (start) => start),
    segment.starts.length - 2,
  )
  return lineOf(segment, index, number)
}

/** The line by its number in the whole layout. */
export function lineNumbered(layout: Layout, number: number): Line | undefined {
  if (number < 0 || number >= layout.lineCount) return undefined
  const index = lastAtMost(layout.segments, number, ({ firstLine }) => firstLine)
  const segment = layout.segments[index] as SegmentLayout
  return lineOf(segment, index, number - segment.firstLine)
}

/** The token of a line at a column, the nearest one where there is none; -1 for a line without tokens. */
export function tokenAtColumn({ layout, start, end }: Line, column: number): number {
  if (end === start) return -1
  const index = start + lastAtMost(layout.columns.slice(start, end), column, (offset) => offset)
  return layout.firstToken + Math.min(Math.max(index, start), end - 1)
}

export function lineAtHeight(layout: Layout, height: number): Line | undefined {
  const index = segmentAtHeight(layout, height)
  const segment = layout.segments[index]
  if (!segment) return undefined
  const number = Math.floor((height - segment.top - SEGMENT_PADDING) / ROW_HEIGHT)
  return number >= 0 && number < segment.starts.length - 1 ? lineOf(segment, index, number) : undefined
}

function lineOf(layout: SegmentLayout, segmentIndex: number, number: number): Line {
  return {
    number: layout.firstLine + number,
    segmentIndex,
    layout,
    start: layout.starts[number] as number,
    end: layout.starts[number + 1] as number,
    top: layout.top + SEGMENT_PADDING + number * ROW_HEIGHT,
  }
}

const segmentAtHeight = (layout: Layout, height: number): number =>
  lastAtMost(layout.segments, height, ({ top }) => top)

/** Index of the last entry of a sorted list whose key is at most the value; -1 when there is none. */
function lastAtMost<T>(list: readonly T[], value: number, key: (entry: T) => number): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (key(list[middle] as T) <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}
