/** Draws the image of a token view on a canvas, at twice the resolution of the screen. */

import { TOKEN_FONTS } from '#components/token-view/measure/measure-text.ts'
import { countText } from '#components/token-view/numbers.ts'
import type { GridImage, ImageRail, ImageRow, ImageToken } from './grid-image.ts'
import { HEAD_HEIGHT, RAIL_WIDTH } from './grid-image.ts'
import type { LegendPart } from './legend-parts.ts'

const SCALE = 2
const SANS = '"Inter Variable", ui-sans-serif, system-ui, sans-serif'
const LEFT = 14

/**
 * Returns the drawn canvas. `within` is an element of the page whose colours, light or dark, the image takes. Throws if the
 * browser provides no canvas.
 */
export function drawImage(image: GridImage, within: HTMLElement): HTMLCanvasElement {
  const canvas = document.createElement('canvas')
  canvas.width = image.width * SCALE
  canvas.height = image.height * SCALE
  const context = canvas.getContext('2d')
  if (!context) throw new Error('the browser provides no canvas')
  context.scale(SCALE, SCALE)
  context.textBaseline = 'middle'
  const colours = createColours(within)
  const pen: Pen = {
    fill: (colour, x, y, width, height) => {
      context.fillStyle = colours.of(colour)
      // Edges are on whole pixels, since adjacent areas of one colour would show a seam.
      const [left, right] = [snapToPixel(x), snapToPixel(x + width)]
      context.fillRect(left, y, right - left, height)
    },
    write: (text, x, y, font, colour) => {
      context.font = font
      context.fillStyle = colours.of(colour)
      context.fillText(text, x, y)
      return context.measureText(text).width
    },
  }
  pen.fill('var(--ground)', 0, 0, image.width, image.height)
  drawHead(pen, image)
  for (const [index, rail] of image.rails.entries()) drawRail(pen, rail, index > 0, image.width)
  for (const row of image.rows) drawRow(pen, row, image)
  colours.end()
  return canvas
}

const snapToPixel = (x: number): number => Math.round(x * SCALE) / SCALE

/** Drawing functions: colours are those of the style sheet, positions are in CSS pixels, and `y` is the middle of a text. */
interface Pen {
  readonly fill: (colour: string, x: number, y: number, width: number, height: number) => void
  /** Returns the width of the text. */
  readonly write: (text: string, x: number, y: number, font: string, colour: string) => number
}

function drawHead(pen: Pen, { title, legend, width, left }: GridImage): void {
  const note = left > 0 ? ` · ${countText(left)} more lines` : ''
  pen.write(title + note, LEFT, 18, `600 13px ${SANS}`, 'var(--ink)')
  legend.reduce((x, part) => x + 8 + drawLegendPart(pen, part, x), LEFT)
  pen.fill('var(--line)', 0, HEAD_HEIGHT - 9, width, 1)
}

function drawLegendPart(pen: Pen, part: LegendPart, x: number): number {
  if (part.kind === 'text') return pen.write(part.text, x, 40, `12px ${SANS}`, 'var(--dim)')
  for (const [index, colour] of part.colours.entries()) pen.fill(colour, x + 11 * index, 35, 11, 10)
  return 11 * part.colours.length
}

function drawRail(pen: Pen, { top, texts, isResponse }: ImageRail, hasRule: boolean, width: number): void {
  if (hasRule) pen.fill('var(--line)', 0, top - 10, width, 1)
  for (const [index, text] of texts.entries()) {
    const isTitle = index === 1
    const colour = !isTitle ? 'var(--faint)' : isResponse ? 'var(--accent)' : 'var(--ink)'
    pen.write(text, LEFT, top + 10 + 15 * index, `${isTitle ? '600 ' : ''}11px ${SANS}`, colour)
  }
}

function drawRow(pen: Pen, row: ImageRow, image: GridImage): void {
  const { rowHeight, fontSize } = image
  if (row.isThink || row.isCall)
    pen.fill(row.isThink ? 'var(--think)' : 'var(--tool-rule)', RAIL_WIDTH - 9, row.top, 2, rowHeight)
  const font = `${row.isThink ? 'italic ' : ''}${fontSize}px ${TOKEN_FONTS}`
  if (row.folded !== undefined)
    pen.write(row.folded, RAIL_WIDTH, row.top + rowHeight / 2, `${fontSize}px ${TOKEN_FONTS}`, 'var(--faint)')
  // All backgrounds are drawn first, since a slanted letter overlaps the next token.
  for (const { runs, top, height } of row.bars.toReversed())
    for (const { from, to, colour } of runs) pen.fill(colour, RAIL_WIDTH + from, row.top + top, to - from, height)
  for (const token of row.tokens) drawText(pen, token, row.top + rowHeight / 2, font, image)
}

function drawText(pen: Pen, token: ImageToken, middle: number, font: string, { cell, fontSize }: GridImage): void {
  const { text, marks, isPlain, trained } = token
  const from = RAIL_WIDTH + token.from
  const ink = trained ? 'var(--ink-trained)' : 'var(--ink-context)'
  // Text is drawn character by character, since fonts draw `->` and `!=` as ligatures, which are not tokens.
  const parts = isPlain ? [...text] : [text]
  for (const [index, part] of parts.entries()) pen.write(part, from + index * cell, middle, font, ink)
  for (const [index, mark] of [...marks].entries())
    if (mark !== ' ') pen.write(mark, from + index * cell, middle, `${fontSize}px ${TOKEN_FONTS}`, 'var(--faint)')
}

/** Returns a reader of the style sheet's colours in this element, each computed once. */
function createColours(within: HTMLElement) {
  const known = new Map<string, string>()
  const probe = document.createElement('span')
  probe.hidden = true
  within.append(probe)
  return {
    of: (colour: string): string => {
      const found = known.get(colour)
      if (found !== undefined) return found
      probe.style.color = colour
      const { color } = getComputedStyle(probe)
      known.set(colour, color)
      return color
    },
    end: () => probe.remove(),
  }
}
