/** The content of the minimap: for each row of pixels, the number of tokens of each colour. This module needs no canvas. */

import { type Colouring, noLevel } from '#components/token-view/colour/colouring.ts'
import { type Layout, linesBetween } from '#components/token-view/grid/layout.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt, int32At, uint32At } from '#lib/util/element-at.ts'

/** Counts of the minimap. */
export interface MinimapPicture {
  /** Number of rows of device pixels; fewer than available for a short trajectory. */
  readonly rows: number
  /** Rows that one line covers; 1 if several lines share a row. */
  readonly lineRows: number
  /** Number of tokens of each level in each row (rows × levels), including level 0 (no colour). */
  readonly counts: Uint32Array
  readonly levels: number
  /** Number of trained tokens in each row. */
  readonly trained: Uint32Array
  /** 1 + the index of the segment that has a line beginning in the row; 0 if no line begins there. */
  readonly segments: Uint32Array
  /** First token of each line, ascending, and the row of the line. */
  readonly lineTokens: Int32Array
  readonly lineTops: Int32Array
}

/** Largest height of a line, as a fraction of its height in the grid. */
const LARGEST_SCALE = 1 / 8

/**
 * Counts the tokens of a layout. `height` is the number of available device pixels, `density` the number of device pixels in
 * a CSS pixel.
 */
export function minimapPicture(
  layout: Layout,
  { levels: levelsOf, palette }: Colouring,
  height: number,
  density: number,
): MinimapPicture {
  const rows = Math.max(1, Math.min(height, Math.ceil(layout.height * LARGEST_SCALE * density)))
  const scale = rows / Math.max(1, layout.height)
  const lines = linesBetween(layout, 0, layout.height)
  const levels = palette.length
  const counts = new Uint32Array(rows * levels)
  const trained = new Uint32Array(rows)
  const segments = new Uint32Array(rows)
  const lineTokens = new Int32Array(lines.length)
  const lineTops = new Int32Array(lines.length)
  let read: { readonly segmentIndex: number; readonly level: (offset: number) => number } | undefined
  for (const [number, { layout: of, segmentIndex, start, end, top }] of lines.entries()) {
    const { segment, firstToken } = of
    const row = Math.min(rows - 1, Math.floor(top * scale))
    lineTokens[number] = firstToken + start
    lineTops[number] = row
    segments[row] = segmentIndex + 1
    if (read?.segmentIndex !== segmentIndex) read = { segmentIndex, level: levelsOf(segment) }
    const { level } = read
    if (level === noLevel) counts[row * levels] = uint32At(counts, row * levels) + end - start
    else
      for (let offset = start; offset < end; offset++) {
        const cell = row * levels + level(offset)
        counts[cell] = uint32At(counts, cell) + 1
      }
    trained[row] = uint32At(trained, row) + trainedBetween(segment, start, end)
  }
  return {
    rows,
    lineRows: Math.max(1, Math.floor(layout.rowHeight * scale)),
    counts,
    levels,
    trained,
    segments,
    lineTokens,
    lineTops,
  }
}

function trainedBetween(segment: SegmentView, start: number, end: number): number {
  if (!segment.mask) return segment.kind === 'response' ? end - start : 0
  let count = 0
  for (let offset = start; offset < end; offset++) count += elementAt(segment.mask, offset)
  return count
}

/** Returns the ranges of tokens that a branch inserted, as pairs of a start and an end in the trajectory. */
export const forcedRanges = ({ segments }: Layout): Int32Array =>
  Int32Array.from(
    segments.flatMap(({ segment, firstToken }) =>
      segment.kind === 'response'
        ? (segment.forced ?? []).flatMap(({ start, end }) => [firstToken + start, firstToken + end])
        : [],
    ),
  )

/** Returns a function that finds the row of a token. Calls in token order are fast: they look from the line of the token before on. */
export function rowFinder({ lineTokens, lineTops }: MinimapPicture): (token: number) => number {
  const { length } = lineTokens
  let line = 0
  return (token) => {
    if (line < length && token < int32At(lineTokens, line)) line = 0
    while (line + 1 < length && int32At(lineTokens, line + 1) <= token) line++
    return lineTops[line] ?? 0
  }
}
