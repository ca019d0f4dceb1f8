/**
 * The background of a whole row of tokens: heat, the underline of trained tokens, the boxes of special ones and the ends of
 * tokens, as CSS gradients behind one text. A gradient costs what one element costs, however many tokens it colours.
 */

/** A part of the row, in pixels, half-open. */
export interface BackgroundRun {
  readonly from: number
  readonly to: number
  readonly colour: string
}

export interface RowMarks {
  readonly heat: readonly BackgroundRun[]
  readonly trained: readonly BackgroundRun[]
  readonly special: readonly BackgroundRun[]
  /** The thin lines where tokens end. Omitted: none are drawn. */
  readonly boundaries?: readonly BackgroundRun[]
  /** Tokens that share a character. */
  readonly groups?: readonly BackgroundRun[]
  /** Thin stripes, the first half above the text and the others below it, in order from the top. */
  readonly bands?: readonly (readonly BackgroundRun[])[]
}

export interface BackgroundStyle {
  readonly backgroundImage: string
  readonly backgroundSize: string
  readonly backgroundPosition: string
}

export interface Layer {
  readonly image: string
  readonly size: string
  readonly position: string
}

/** `row`: its height in pixels. */
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

/** Where heat begins below the row's upper end: the strip above it and the underline below it are other marks'. */
export const HEAT_TOP = 2

export const heatHeight = (row: number): number => row - 5

/** The line after a token lies on the token's last pixel. */
export const boundaryAfter = (to: number): BackgroundRun => ({ from: to - 1, to, colour: 'var(--token-boundary)' })

const BAND_PITCH = 3

/** The first layer lies on top. */
export function stacked(made: readonly (Layer | undefined)[]): BackgroundStyle {
  const layers = made.filter((layer) => layer !== undefined)
  return {
    backgroundImage: layers.map(({ image }) => image).join(', '),
    backgroundSize: layers.map(({ size }) => size).join(', '),
    backgroundPosition: layers.map(({ position }) => position).join(', '),
  }
}

/** Neighbours of one colour become one stretch. */
export function joinStretches(stretches: readonly BackgroundRun[]): BackgroundRun[] {
  const joined: BackgroundRun[] = []
  for (const stretch of stretches) {
    const last = joined.at(-1)
    if (last && last.to === stretch.from && last.colour === stretch.colour)
      joined[joined.length - 1] = { ...last, to: stretch.to }
    else joined.push(stretch)
  }
  return joined
}

/** A thin line around each, so far from the row's upper and lower end. */
function boxes(stretches: readonly BackgroundRun[], row: number, inset: number): (Layer | undefined)[] {
  return [
    layer(stretches, '100% 1px', `0 ${inset}px`),
    layer(stretches, '100% 1px', `0 ${row - inset - 1}px`),
    layer(stretches.flatMap(edges), `100% ${row - 2 * inset - 1}px`, `0 ${inset}px`),
  ]
}

/** A box is a little smaller than its token, so that two next to each other stay two. */
const edges = ({ from, to, colour }: BackgroundRun): BackgroundRun[] => [
  { from: from + 1, to: from + 2, colour },
  { from: to - 2, to: to - 1, colour },
]

/** Undefined for nothing: a layer less. */
export function layer(stretches: readonly BackgroundRun[], size: string, position: string): Layer | undefined {
  if (stretches.length === 0) return undefined
  const stops: string[] = []
  let at = 0
  for (const { from, to, colour } of stretches) {
    if (from > at) stops.push(`transparent ${px(at)} ${px(from)}`)
    stops.push(`${colour} ${px(from)} ${px(to)}`)
    at = to
  }
  stops.push(`transparent ${px(at)}`)
  return { image: `linear-gradient(90deg, ${stops.join(', ')})`, size, position }
}

const px = (value: number): string => `${Math.round(value * 100) / 100}px`
