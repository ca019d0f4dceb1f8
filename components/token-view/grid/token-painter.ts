/** Draws the visible rows of the token view into a scrolled element. React renders only the elements around them. */

import { elementAt } from '#lib/util/element-at.ts'
import { createElementPool } from './element-pool.ts'
import { lineOfToken, linesBetween, segmentsBetween } from './layout.ts'
import { fitCanvas, type ScrollSpace, visiblePart } from './scroll-space.ts'
import { makeFrame, paintFrame } from './segment-frame.ts'
import { createTokenBox } from './token-box.ts'
import { setStyle, type TokenPicture } from './token-picture.ts'
import { makeRow, paintRow } from './token-row.ts'

/** Draws a token view. */
export interface TokenPainter {
  /** Draws the visible part of the picture. */
  draw(picture: TokenPicture): void
}

/** Id of the box of the selected token, which the grid's `aria-activedescendant` refers to. */
export const SELECTED_ID = 'token-selected'

/** Rows drawn above and below the visible part, so that fast scrolling shows no gap. */
const MARGIN_ROWS = 6

/**
 * Returns a painter. `canvas` is as tall as the layout and is inside the scrolled viewport; `layer`, inside it, receives the
 * drawn elements.
 */
export function createTokenPainter(space: ScrollSpace, canvas: HTMLElement, layer: HTMLElement): TokenPainter {
  const rows = createElementPool(layer, makeRow)
  const frames = createElementPool(layer, makeFrame)
  const pointed = createTokenBox(layer, 'token-pointed', undefined)
  const selected = createTokenBox(layer, 'token-selected', SELECTED_ID)
  let drawnShift = ''
  return {
    draw(picture) {
      const { layout, options } = picture
      setStyle(canvas, '--token-size', `${options.fontSize}px`)
      setStyle(canvas, '--token-row', `${layout.rowHeight}px`)
      const margin = MARGIN_ROWS * layout.rowHeight
      fitCanvas(canvas, space, layout.height)
      const top = space.top() - margin
      const bottom = space.top() + space.viewHeight() + margin
      const shift = `translateY(${space.shift()}px)`
      if (shift !== drawnShift) layer.style.transform = drawnShift = shift
      const lines = linesBetween(layout, top, bottom)
      rows.show(
        lines.map((line) => line.number),
        (row, index) => paintRow(row, elementAt(lines, index), picture),
      )
      const { start, end } = segmentsBetween(layout, top, bottom)
      frames.show(
        Array.from({ length: end - start }, (_, index) => start + index),
        (frame, index) =>
          paintFrame(
            frame,
            start + index,
            visiblePart(elementAt(layout.segments, start + index), top, bottom),
            picture,
          ),
      )
      const lineOf = (token: number | undefined) => (token === undefined ? undefined : lineOfToken(layout, token))
      pointed.place(picture.pointed, lineOf(picture.pointed), picture)
      selected.place(picture.selection?.focus, lineOf(picture.selection?.focus), picture)
    },
  }
}
