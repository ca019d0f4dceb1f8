/**
 * The background of a whole row of tokens: heat, underline of trained and forced tokens, boxes of special tokens and token boundaries.
 * The token view draws it as CSS gradients below one text, because a gradient costs one element, however many tokens it
 * colours. The copied image draws the same bars on a canvas.
 */

/** A coloured part of the row, in pixels, half-open. */
export interface BackgroundRun {
  readonly from: number
  readonly to: number
  readonly colour: string
}

/** What the background of a row shows. */
export interface RowMarks {
  readonly heat: readonly BackgroundRun[]
  readonly trained: readonly BackgroundRun[]
  /** Tokens that a branch inserted, which have a dashed underline. If omitted, there are none. */
  readonly forced?: readonly BackgroundRun[]
  readonly special: readonly BackgroundRun[]
  /** Thin lines at the ends of tokens. If omitted, none are drawn. */
  readonly boundaries?: readonly BackgroundRun[]
  /** Tokens that share a character. */
  readonly groups?: readonly BackgroundRun[]
  /** Thin stripes from the top: the first half is above the text, the second half below it. */
  readonly bands?: readonly (readonly BackgroundRun[])[]
}

/** Runs of one height, at one distance from the top of the row, in pixels. */
export interface BackgroundBar {
  readonly runs: readonly BackgroundRun[]
  readonly top: number
  readonly height: number
}

/** CSS of all layers of a background. */
export interface BackgroundStyle {
  readonly backgroundImage: string
  readonly backgroundSize: string
  readonly backgroundPosition: string
}

/** CSS of one layer of a background. */
export interface Layer {
  readonly image: string
  readonly size: string
  readonly position: string
}

/** Returns the CSS background of a row that is `row` pixels high. */
export const rowBackground = (marks: RowMarks, row: number): BackgroundStyle =>
  stackLayers(backgroundBars(marks, row).map(({ runs, top, height }) => layer(runs, `100% ${height}px`, `0 ${top}px`)))

/** Returns the bars of a row that is `row` pixels high, the first on top. */
export function backgroundBars(
  { heat, trained, forced = [], special, boundaries = [], groups = [], bands = [] }: RowMarks,
  row: number,
): readonly BackgroundBar[] {
  const above = Math.ceil(bands.length / 2)
  return [
    { runs: forced.flatMap(dashesOf), top: row - 2, height: 2 },
    { runs: trained, top: row - 2, height: 2 },
    ...boxes(special, row, 3),
    ...boxes(groups, row, 1),
    ...bands.map((band, index) => {
      const top = index < above ? 1 + index * BAND_PITCH : row - 2 - (bands.length - 1 - index) * BAND_PITCH
      return { runs: band, top, height: 2 }
    }),
    { runs: boundaries, top: HEAT_TOP, height: heatHeight(row) },
    { runs: heat, top: HEAT_TOP, height: heatHeight(row) },
  ]
}

/** Distance of the heat from the top of the row, in pixels. The strip above it and the underline below it belong to other marks. */
export const HEAT_TOP = 2

/** Returns the height of the heat in a row of this height, in pixels. */
export const heatHeight = (row: number): number => row - 5

/** Returns the boundary line after a token, on the last pixel of the token. */
export const boundaryLineAfter = (to: number): BackgroundRun => ({ from: to - 1, to, colour: 'var(--token-boundary)' })

const BAND_PITCH = 3

const DASH = 4
const DASH_PITCH = 7

/** Returns the dashes of a dashed line. It begins and ends with a dash, so that the shortest token has one. */
function dashesOf({ from, to, colour }: BackgroundRun): readonly BackgroundRun[] {
  const gaps = Math.max(0, Math.round((to - from - DASH) / DASH_PITCH))
  const pitch = gaps === 0 ? 0 : (to - from - DASH) / gaps
  return Array.from({ length: gaps + 1 }, (_, index) => {
    const start = from + index * pitch
    return { from: start, to: Math.min(to, start + DASH), colour }
  })
}

/** Returns the CSS of the layers, the first on top; undefined ones are skipped. */
export function stackLayers(made: readonly (Layer | undefined)[]): BackgroundStyle {
  const layers = made.filter((layer) => layer !== undefined)
  return {
    backgroundImage: layers.map(({ image }) => image).join(', '),
    backgroundSize: layers.map(({ size }) => size).join(', '),
    backgroundPosition: layers.map(({ position }) => position).join(', '),
  }
}

/** Joins adjacent runs of the same colour. */
export function joinRuns(runs: readonly BackgroundRun[]): BackgroundRun[] {
  const joined: BackgroundRun[] = []
  for (const run of runs) {
    const last = joined.at(-1)
    if (last && last.to === run.from && last.colour === run.colour) joined[joined.length - 1] = { ...last, to: run.to }
    else joined.push(run)
  }
  return joined
}

/** Returns the bars of a thin box around each run, `inset` pixels from the top and bottom of the row. */
const boxes = (runs: readonly BackgroundRun[], row: number, inset: number): readonly BackgroundBar[] => [
  { runs, top: inset, height: 1 },
  { runs, top: row - inset - 1, height: 1 },
  { runs: runs.flatMap(edges), top: inset, height: row - 2 * inset - 1 },
]

/** Returns the sides of a box, which is a little narrower than its token, so that adjacent boxes do not merge. */
const edges = ({ from, to, colour }: BackgroundRun): BackgroundRun[] => [
  { from: from + 1, to: from + 2, colour },
  { from: to - 2, to: to - 1, colour },
]

/** Returns the layer of these runs; undefined if there are none. */
export function layer(runs: readonly BackgroundRun[], size: string, position: string): Layer | undefined {
  if (runs.length === 0) return undefined
  const stops: string[] = []
  let at = 0
  for (const { from, to, colour } of runs) {
    if (from > at) stops.push(`transparent ${px(at)} ${px(from)}`)
    stops.push(`${colour} ${px(from)} ${px(to)}`)
    at = to
  }
  stops.push(`transparent ${px(at)}`)
  return { image: `linear-gradient(90deg, ${stops.join(', ')})`, size, position }
}

const px = (value: number): string => `${Math.round(value * 100) / 100}px`
