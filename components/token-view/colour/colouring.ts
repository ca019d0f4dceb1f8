/** Colours of a trajectory: each token has a level, and each level has a colour of the style sheet. */
import { isTrained } from '#lib/trajectory/tokens/tokens.ts'
import type { SegmentView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { CategoryMode, Coloured, ColourMode, NumberMode } from './mode.ts'
import { colourModeNamed } from './modes.ts'
import { cool, HEAT_LEVELS, heat, NO_DATA } from './palette.ts'
import { type ColourScale, colourScale, distance, hasTrained, type NumberScale } from './scale.ts'

/** A colour mode applied to one trajectory. */
export interface Colouring {
  readonly mode: ColourMode
  readonly scale: ColourScale
  /** Distance from the origin of a number scale at which the colours end; 0 for other scales. */
  readonly limit: number
  /** Colours by level; level 0 has no colour. */
  readonly palette: readonly (string | undefined)[]
  /** Returns the levels of a segment's tokens, by offset in the segment. */
  readonly levels: (segment: SegmentView) => (offset: number) => number
  /** Returns the value of a token in words, such as `entropy 0.53 nats`; undefined if it has none. */
  readonly words: (segment: SegmentView, offset: number) => string | undefined
}

/** Returns the colouring for a mode. `limit` is the end of the scale as in the address, in the unit of the mode; undefined means p95. */
export function colouringOf(trajectory: Coloured, name: string, limit?: number): Colouring {
  const mode = colourModeNamed(trajectory, name)
  const scale = colourScale(trajectory, mode)
  if (mode.kind === 'category') return { mode, scale, limit: 0, ...categoryColours(mode) }
  if (mode.kind === 'none' || scale.kind !== 'number')
    return { mode, scale, limit: 0, palette: [undefined], levels: () => noLevel, words: () => undefined }
  const far = limitOf(scale, limit)
  return { mode, scale, limit: far, ...numberColours(mode, scale, far) }
}

/** Returns level 0, for segments without colours. */
export const noLevel = (): number => 0

const notKnown = (): number => Number.NaN

/** Returns the distance at which the scale ends; a choice on the wrong side of the origin is ignored. */
function limitOf(scale: NumberScale, chosen: number | undefined): number {
  const far = chosen === undefined ? 0 : distance(scale.axis, chosen)
  return Number.isFinite(far) && far > 0 ? far : scale.limit
}

const HEATS = Array.from({ length: HEAT_LEVELS }, (_, index) => heat(index + 1))
const COOLS = Array.from({ length: HEAT_LEVELS }, (_, index) => cool(index + 1))

/** Levels 1 to 8 lead away from the origin, 9 to 16 in the other direction; the last level marks a trained token without a value. */
const NUMBER_PALETTE = [undefined, ...HEATS, ...COOLS, NO_DATA]
const UNKNOWN_LEVEL = NUMBER_PALETTE.length - 1

function numberColours(
  mode: NumberMode,
  { axis }: NumberScale,
  limit: number,
): Pick<Colouring, 'palette' | 'levels' | 'words'> {
  return {
    palette: NUMBER_PALETTE,
    levels: (segment) => {
      const read = mode.read(segment) ?? notKnown
      if (!hasTrained(segment) && (read === notKnown || mode.scope === 'trained')) return noLevel
      const isOfTrained = mode.scope === 'trained'
      return (offset) => {
        if (isOfTrained && !isTrained(segment, offset)) return 0
        const value = read(offset)
        if (Number.isNaN(value)) return isTrained(segment, offset) ? UNKNOWN_LEVEL : 0
        const level = Math.min(HEAT_LEVELS, Math.floor((distance(axis, value) / limit) * HEAT_LEVELS))
        return axis.direction === 'diverging' && value < axis.origin && level > 0 ? HEAT_LEVELS + level : level
      }
    },
    words: (segment, offset) => {
      const value = mode.read(segment)?.(offset) ?? Number.NaN
      if (Number.isNaN(value)) return isTrained(segment, offset) ? `${mode.quantity} no data` : undefined
      return [mode.quantity, mode.text(value), mode.unit, mode.isApproximate && '(approximate)']
        .filter(Boolean)
        .join(' ')
    },
  }
}

function categoryColours({ categories, title, read }: CategoryMode): Pick<Colouring, 'palette' | 'levels' | 'words'> {
  const colours = [...new Set(categories.flatMap(({ colour }) => colour ?? []))]
  const palette = [undefined, ...colours, NO_DATA]
  const levelOf = categories.map(({ colour }) => (colour === undefined ? 0 : 1 + colours.indexOf(colour)))
  return {
    palette,
    levels: (segment) => {
      const code = read(segment)
      return (offset) => {
        const category = code(offset)
        return Number.isNaN(category) ? palette.length - 1 : (levelOf[category] ?? 0)
      }
    },
    words: (segment, offset) => {
      const category = read(segment)(offset)
      if (Number.isNaN(category)) return `${title.toLowerCase()} no data`
      return categories[category]?.label
    },
  }
}
