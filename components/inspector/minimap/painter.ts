/**
 * Draws the minimap on two canvases: one for everything that depends on colours and layout, which is counted only when these
 * change, and over it one for the marks. The window of the grid is an element of its own, which is moved without drawing.
 */
import type { Colouring } from '#components/token-view/colour/colouring.ts'
import { HEAT_LEVELS } from '#components/token-view/colour/palette.ts'
import type { Layout } from '#components/token-view/grid/layout.ts'
import { type Selection, selectedRange } from '#components/token-view/selection.ts'
import type { MarkKind, TokenMarks } from '#components/token-view/token-marks.ts'
import { int32At } from '#lib/util/element-at.ts'
import { forcedRanges, type MinimapPicture, minimapPicture, rowFinder } from './picture.ts'
import { heatPixels } from './raster.ts'

/** Lanes from the left, in CSS pixels: segments, a gap, heat, a gap, trained tokens, marks. */
const MINIMAP_WIDTH = 64
const SEGMENT_LANE = 4
const HEAT_LEFT = 6
const HEAT_WIDTH = 44
const TRAINED_LEFT = 52
const TRAINED_LANE = 3
const MARKS_LEFT = 56
const MARKS_LANE = MINIMAP_WIDTH - MARKS_LEFT
/** Lanes in which the selection is drawn: both gaps and the marks. */
const SELECTED_LANES = [
  [SEGMENT_LANE, HEAT_LEFT - SEGMENT_LANE],
  [HEAT_LEFT + HEAT_WIDTH, TRAINED_LEFT - HEAT_LEFT - HEAT_WIDTH],
  [MARKS_LEFT, MARKS_LANE],
] as const

interface MinimapCanvases {
  readonly heat: HTMLCanvasElement
  readonly marks: HTMLCanvasElement
}

interface MinimapHeat {
  readonly layout: Layout
  readonly colouring: Colouring
  /** Available height, in CSS pixels. */
  readonly height: number
}

/** Draws the minimap. */
export interface MinimapPainter {
  /** Counts and draws the heat; returns the height of the drawing, in CSS pixels. */
  drawHeat(heat: MinimapHeat): number
  /** Draws the marks and the selection over the last heat. */
  drawMarks(marks: readonly TokenMarks[], selection: Selection | undefined): void
}

/** Returns the painter of two canvases that cover each other. */
export function createMinimapPainter({ heat, marks }: MinimapCanvases): MinimapPainter {
  let picture: MinimapPicture | undefined
  let density = 1
  return {
    drawHeat({ layout, colouring, height }) {
      density = window.devicePixelRatio || 1
      picture = minimapPicture(layout, colouring, Math.floor(height * density), density)
      const shownHeight = picture.rows / density
      for (const canvas of [heat, marks]) {
        canvas.width = MINIMAP_WIDTH * density
        canvas.height = picture.rows
        canvas.style.height = `${shownHeight}px`
      }
      const context = heat.getContext('2d')
      if (context) {
        drawHeatLane(context, picture, colouring, density)
        drawSideLanes(context, picture, layout, density)
        drawRanges(context, picture, forcedRanges(layout), '--warn', density, HEAT_LEFT, HEAT_WIDTH)
      }
      return shownHeight
    },
    drawMarks(all, selection) {
      const context = marks.getContext('2d')
      if (!context || !picture) return
      context.clearRect(0, 0, marks.width, marks.height)
      for (const { kind, colour } of MARKS)
        for (const { ranges } of all.filter((mark) => mark.kind === kind))
          drawRanges(context, picture, ranges, colour, density, MARKS_LEFT, MARKS_LANE)
      if (!selection) return
      const { start, end } = selectedRange(selection)
      const chosen = Int32Array.of(start, end)
      // The selection is drawn beside the heat, not over it.
      for (const [left, width] of SELECTED_LANES)
        drawRanges(context, picture, chosen, '--selected', density, left, width)
    },
  }
}

/** Kinds of marks in the order of drawing: later ones cover earlier ones. */
const MARKS: readonly { readonly kind: MarkKind; readonly colour: string }[] = [
  { kind: 'linked', colour: '--mark-linked' },
  { kind: 'note', colour: '--mark-note' },
  { kind: 'drift', colour: '--bad' },
  { kind: 'dropped', colour: '--bad' },
  { kind: 'hit', colour: '--mark-hit' },
  { kind: 'current', colour: '--mark-current' },
]

function drawHeatLane(
  context: CanvasRenderingContext2D,
  picture: MinimapPicture,
  { palette, mode }: Colouring,
  density: number,
): void {
  const colours = Uint32Array.from(palette, (colour) => (colour === undefined ? 0 : pixelOf(context, colour)))
  const width = Math.round(HEAT_WIDTH * density)
  const pixels = heatPixels(picture, colours, levelOrder(palette.length, mode.kind === 'number'), width, density)
  const image = context.createImageData(width, picture.rows)
  new Uint32Array(image.data.buffer).set(pixels)
  context.putImageData(image, Math.round(HEAT_LEFT * density), 0)
}

/**
 * Returns the levels from the left. Numbers: the warmest first, then those below the middle, then unknown values.
 * Categories: in the order of the legend.
 */
function levelOrder(levels: number, isNumber: boolean): readonly number[] {
  const order = Array.from({ length: levels - 1 }, (_, index) => index + 1)
  if (!isNumber) return order
  const [warm, cool, rest] = [
    order.slice(0, HEAT_LEVELS),
    order.slice(HEAT_LEVELS, 2 * HEAT_LEVELS),
    order.slice(2 * HEAT_LEVELS),
  ]
  return [...warm.reverse(), ...cool.reverse(), ...rest]
}

function drawSideLanes(
  context: CanvasRenderingContext2D,
  picture: MinimapPicture,
  layout: Layout,
  density: number,
): void {
  const { rows, segments, trained, lineRows } = picture
  const height = (row: number) => Math.min(lineRows, rows - row)
  const colours = { prompt: cssColour(context, '--line-strong'), response: cssColour(context, '--tool-rule') }
  let segment = 0
  for (let row = 0; row < rows; row++) {
    const begun = segments[row] || segment
    // A gap of one row separates segments.
    const isNotched = segment !== 0 && begun !== segment
    segment = begun
    const kind = layout.segments[segment - 1]?.segment.kind
    if (kind === undefined || isNotched) continue
    context.fillStyle = colours[kind]
    context.fillRect(0, row, SEGMENT_LANE * density, 1)
  }
  context.fillStyle = cssColour(context, '--trained')
  for (let row = 0; row < rows; row++)
    if (trained[row]) context.fillRect(TRAINED_LEFT * density, row, TRAINED_LANE * density, height(row))
}

function drawRanges(
  context: CanvasRenderingContext2D,
  picture: MinimapPicture,
  ranges: Int32Array,
  colour: string,
  density: number,
  left: number,
  width: number,
): void {
  context.fillStyle = cssColour(context, colour)
  const least = Math.max(picture.lineRows, Math.ceil(2 * density))
  const rowOf = rowFinder(picture)
  let drawnTo = -1
  for (let index = 0; index < ranges.length; index += 2) {
    const top = rowOf(int32At(ranges, index))
    const bottom = Math.max(top + least, rowOf(int32At(ranges, index + 1) - 1) + picture.lineRows)
    // Hits that end above the lowest drawn pixel are already visible.
    if (bottom <= drawnTo) continue
    context.fillRect(left * density, top, width * density, bottom - top)
    drawnTo = bottom
  }
}

/** Returns the value of a custom property of the style sheet. */
const cssColour = ({ canvas }: CanvasRenderingContext2D, name: string): string =>
  getComputedStyle(canvas).getPropertyValue(name).trim()

/** Returns the colour `var(--name)` as a pixel of an image: ABGR in the little-endian order of typed arrays. */
function pixelOf(context: CanvasRenderingContext2D, colour: string): number {
  const hex = cssColour(context, colour.slice('var('.length, -1))
  const value = Number.parseInt(hex.slice(1), 16)
  return ((0xff << 24) | ((value & 0xff) << 16) | (value & 0xff00) | (value >> 16)) >>> 0
}
