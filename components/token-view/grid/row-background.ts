/**
 * The background of a whole row of tokens as CSS gradients below one text: heat, underline of trained tokens, boxes of
 * special tokens and token boundaries. A gradient costs one element, however many tokens it colours.
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
  readonly special: readonly BackgroundRun[]
  /** Thin lines at the ends of tokens. If omitted, none are drawn. */
  readonly boundaries?: readonly BackgroundRun[]
  /** Tokens that share a character. */
  readonly groups?: readonly BackgroundRun[]
  /** Thin stripes from the top: the first half is above the text, the second half below it. */
  readonly bands?: readonly (readonly BackgroundRun[])[]
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
export function rowBackground(
  { heat, trained, special, boundaries = [], groups = [], bands = [] }: RowMarks,
  row: number,
): BackgroundStyle {
  const above = Math.ceil(bands.length / 2)
  return stacked([
    layer(trained, '100% 2px', '0 100%'),
    ...boxes(special, row, 3),
    ...boxes(groups, row, 1),
    ...bands.map((band, index) => {
      const top = index < above ? 1 + index * BAND_PITCH : row - 2 - (bands.length - 1 - index) * BAND_PITCH
      return layer(band, '100% 2px', `0 ${top}px`)
    }),
    layer(boundaries, `100% ${heatHeight(row)}px`, `0 ${HEAT_TOP}px`),
    layer(heat, `100% ${heatHeight(row)}px`, `0 ${HEAT_TOP}px`),
  ])
}

/** Distance of the heat from the top of the row, in pixels. The strip above it and the underline below it belong to other marks. */
export const HEAT_TOP = 2

/** Returns the height of the heat in a row of this height, in pixels. */
export const heatHeight = (row: number): number => row - 5

/** Returns the boundary line after a token, on the last pixel of the token. */
export const boundaryLineAfter = (to: number): BackgroundRun => ({ from: to - 1, to, colour: 'var(--token-boundary)' })

const BAND_PITCH = 3

/** Returns the CSS of the layers, the first on top; undefined ones are skipped. */
export function stacked(made: readonly (Layer | undefined)[]): BackgroundStyle {
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

/** Returns the layers of a thin box around each run, `inset` pixels from the top and bottom of the row. */
function boxes(runs: readonly BackgroundRun[], row: number, inset: number): (Layer | undefined)[] {
  return [
    layer(runs, '100% 1px', `0 ${inset}px`),
    layer(runs, '100% 1px', `0 ${row - inset - 1}px`),
    layer(runs.flatMap(edges), `100% ${row - 2 * inset - 1}px`, `0 ${inset}px`),
  ]
}

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
