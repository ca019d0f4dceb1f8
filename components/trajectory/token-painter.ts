/** Draws the token view into a scrolled element: only the rows in sight. React draws the frame around it. */
import { type Line, linesBetween, type SegmentLayout, segmentsBetween } from './layout.ts'
import type { ScrollSpace } from './scroll-space.ts'
import { makeFrame, paintFrame } from './segment-frame.ts'
import { createTokenBox } from './token-box.ts'
import type { Drawn, TokenPicture } from './token-picture.ts'
import { makeRow, paintRow } from './token-row.ts'

export interface TokenPainter {
  /** Draws what is in sight. */
  draw(picture: TokenPicture): void
}

/** Rows drawn above and below what is in sight, so that a flick of the wheel shows no gap. */
const MARGIN_ROWS = 6

/** `canvas` is as tall as the layout and stands in the scrolled viewport; `layer` in it holds what is drawn. */
export function createTokenPainter(space: ScrollSpace, canvas: HTMLElement, layer: HTMLElement): TokenPainter {
  const rows = createPool(layer, makeRow)
  const frames = createPool(layer, makeFrame)
  const pointed = createTokenBox(layer, 'token-pointed')
  const selected = createTokenBox(layer, 'token-selected')
  let drawnHeight = ''
  let drawnShift = ''
  return {
    draw(picture) {
      const { layout, options } = picture
      setProperty(canvas, '--token-size', `${options.fontSize}px`)
      setProperty(canvas, '--token-row', `${layout.rowHeight}px`)
      const margin = MARGIN_ROWS * layout.rowHeight
      const height = `${space.setHeight(layout.height)}px`
      if (height !== drawnHeight) canvas.style.height = drawnHeight = height
      const top = space.top() - margin
      const bottom = space.top() + space.viewHeight() + margin
      const shift = `translateY(${space.shift()}px)`
      if (shift !== drawnShift) layer.style.transform = drawnShift = shift
      const lines = linesBetween(layout, top, bottom)
      rows.show(
        lines.map((line) => line.number),
        (row, index) => paintRow(row, lines[index] as Line, picture),
      )
      const { start, end } = segmentsBetween(layout, top, bottom)
      frames.show(
        Array.from({ length: end - start }, (_, index) => start + index),
        (frame, index) =>
          paintFrame(
            frame,
            start + index,
            frameOf(layout.segments[start + index] as SegmentLayout, top, bottom),
            picture,
          ),
      )
      pointed.place(picture.pointed, picture)
      selected.place(picture.selection?.focus, picture)
    },
  }
}

function setProperty(element: HTMLElement, name: string, value: string): void {
  if (element.style.getPropertyValue(name) !== value) element.style.setProperty(name, value)
}

/** A browser cannot draw a frame of any height: of a tall one, the part around what is in sight. */
function frameOf(
  segment: SegmentLayout,
  top: number,
  bottom: number,
): { readonly top: number; readonly height: number } {
  if (segment.height <= TALL_FRAME) return segment
  const from = Math.max(segment.top, Math.floor(top / TALL_FRAME - 1) * TALL_FRAME)
  const to = Math.min(segment.top + segment.height, Math.ceil(bottom / TALL_FRAME + 1) * TALL_FRAME)
  return { top: from, height: to - from }
}

/** Pixels: a multiple of what is scrolled at once, so that a frame is seldom drawn again. */
const TALL_FRAME = 100_000

interface Pool<D extends Drawn> {
  /** One for each key; those of keys that are gone are used again. */
  show(keys: readonly number[], paint: (drawn: D, index: number) => void): void
}

function createPool<D extends Drawn>(layer: HTMLElement, make: () => D): Pool<D> {
  const used = new Map<number, D>()
  const free: D[] = []
  return {
    show(keys, paint) {
      const wanted = new Set(keys)
      for (const [key, drawn] of used) {
        if (wanted.has(key)) continue
        used.delete(key)
        free.push(drawn)
      }
      for (const [index, key] of keys.entries()) {
        const known = used.get(key)
        const drawn = known ?? free.pop() ?? make()
        if (!known) {
          used.set(key, drawn)
          if (!drawn.element.isConnected) layer.append(drawn.element)
          if (drawn.element.hidden) drawn.element.hidden = false
        }
        paint(drawn, index)
      }
      for (const { element } of free) if (!element.hidden) element.hidden = true
    },
  }
}
