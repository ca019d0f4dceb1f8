/**
 * The background of a whole row of tokens: heat, the underline of trained tokens and the boxes of special ones, as CSS
 * gradients behind one text. A gradient costs what one element costs, however many tokens it colours.
 */

/** A part of the row, in pixels, half-open. */
export interface Stretch {
  readonly from: number
  readonly to: number
  readonly colour: string
}

export interface RowMarks {
  readonly heat: readonly Stretch[]
  readonly trained: readonly Stretch[]
  readonly special: readonly Stretch[]
  /** Thin stripes, the first half above the text and the others below it, in order from the top. */
  readonly bands?: readonly (readonly Stretch[])[]
}

export interface BackgroundStyle {
  readonly backgroundImage: string
  readonly backgroundSize: string
  readonly backgroundPosition: string
}

interface Layer {
  readonly image: string
  readonly size: string
  readonly position: string
}

export function rowBackground({ heat, trained, special, bands = [] }: RowMarks): BackgroundStyle {
  const above = Math.ceil(bands.length / 2)
  const layers: Layer[] = [
    layer(trained, '100% 2px', '0 100%'),
    layer(special, '100% 1px', '0 3px'),
    layer(special, '100% 1px', '0 20px'),
    layer(special.flatMap(edges), '100% 17px', '0 3px'),
    ...bands.map((band, index) => {
      const top = index < above ? 1 + index * BAND_PITCH : ROW - 2 - (bands.length - 1 - index) * BAND_PITCH
      return layer(band, '100% 2px', `0 ${top}px`)
    }),
    layer(heat, '100% 19px', '0 2px'),
  ].filter((made) => made !== undefined)
  return {
    backgroundImage: layers.map(({ image }) => image).join(', '),
    backgroundSize: layers.map(({ size }) => size).join(', '),
    backgroundPosition: layers.map(({ position }) => position).join(', '),
  }
}

const ROW = 24
const BAND_PITCH = 3

/** Neighbours of one colour become one stretch. */
export function joinStretches(stretches: readonly Stretch[]): Stretch[] {
  const joined: Stretch[] = []
  for (const stretch of stretches) {
    const last = joined.at(-1)
    if (last && last.to === stretch.from && last.colour === stretch.colour)
      joined[joined.length - 1] = { ...last, to: stretch.to }
    else joined.push(stretch)
  }
  return joined
}

/** A box is a little smaller than its token, so that two next to each other stay two. */
const edges = ({ from, to, colour }: Stretch): Stretch[] => [
  { from: from + 1, to: from + 2, colour },
  { from: to - 2, to: to - 1, colour },
]

function layer(stretches: readonly Stretch[], size: string, position: string): Layer | undefined {
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
