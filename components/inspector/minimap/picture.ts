/** What the minimap shows, counted: of each row of pixels how many tokens have which colour. Pure: no canvas. */

import { type Colouring, noLevel } from '#components/token-view/colour/colouring.ts'
import { type Layout, linesBetween } from '#components/token-view/grid/layout.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'

export interface MinimapPicture {
  /** Rows of device pixels; fewer than there is room for where the trajectory is short. */
  readonly rows: number
  /** Rows that a line takes; below one line a row it is 1. */
  readonly lineRows: number
  /** rows × levels: tokens of each level of the colouring, level 0 (no colour) too. */
  readonly counts: Uint32Array
  readonly levels: number
  /** Trained tokens of each row. */
  readonly trained: Uint32Array
  /** 1 + the number of the segment whose line begins in the row; 0: none does. */
  readonly segments: Uint32Array
  /** Of each line its first token, in order, and its row. */
  readonly lineTokens: Int32Array
  readonly lineTops: Int32Array
}

/** A line of a short trajectory is this tall, as a share of its height in the grid. */
const LARGEST_SCALE = 1 / 8

/** `height`: device pixels that there are; `density`: device pixels in a pixel of the style sheet. */
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
    if (level === noLevel) counts[row * levels] = elementAt(counts, row * levels) + end - start
    else
      for (let offset = start; offset < end; offset++) {
        const cell = row * levels + level(offset)
        counts[cell] = elementAt(counts, cell) + 1
      }
    trained[row] = elementAt(trained, row) + trainedBetween(segment, start, end)
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

/** The row in which a token stands. */
export function rowOf({ lineTokens, lineTops }: MinimapPicture, token: number): number {
  const begun = countWhile(lineTokens.length, (index) => elementAt(lineTokens, index) <= token)
  return lineTops[Math.max(0, begun - 1)] ?? 0
}
