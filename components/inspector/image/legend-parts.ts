import type { Colouring } from '#components/token-view/colour/colouring.ts'
import { HEAT_LEVELS, NO_DATA } from '#components/token-view/colour/palette.ts'
import { valueAtDistance } from '#components/token-view/colour/scale.ts'
import { visibleText } from '../../ui/visible-text.ts'

/** A part of the legend, which is a row of words and colours. */
export type LegendPart =
  | { readonly kind: 'text'; readonly text: string }
  /** Colours drawn beside each other without a gap. */
  | { readonly kind: 'colours'; readonly colours: readonly string[] }

/** Number of categories that fit in one row. */
const MOST_CATEGORIES = 8

/** Returns the legend of a colouring for the image; [] without colours. */
export function legendParts({ mode, scale, limit, palette }: Colouring): readonly LegendPart[] {
  if (mode.kind === 'number' && scale.kind === 'number') {
    const { axis, unknown } = scale
    const isDiverging = axis.direction === 'diverging'
    const levels = palette.slice(1, 1 + HEAT_LEVELS) as readonly string[]
    const cools = palette.slice(1 + HEAT_LEVELS, 1 + 2 * HEAT_LEVELS) as readonly string[]
    const unit = mode.unit && ` ${mode.unit}`
    return [
      text(`${mode.quantity} ${mode.text(isDiverging ? valueAtDistance(axis, -limit) : axis.origin)}`),
      { kind: 'colours', colours: isDiverging ? [...cools.toReversed(), ...levels] : levels },
      text(`${mode.text(valueAtDistance(axis, limit))} ${axis.direction === 'falling' ? 'or less' : 'or more'}${unit}`),
      ...(unknown > 0 ? [colour(NO_DATA), text('no data')] : []),
    ]
  }
  if (mode.kind === 'category' && scale.kind === 'category') {
    const present = mode.categories.filter(
      ({ colour }, index) => colour !== undefined && (scale.counts[index] ?? 0) > 0,
    )
    return [
      text(mode.title),
      ...present
        .slice(0, MOST_CATEGORIES)
        .flatMap((category) => [colour(category.colour as string), text(visibleText(category.label))]),
      ...(present.length > MOST_CATEGORIES ? [text(`and ${present.length - MOST_CATEGORIES} more`)] : []),
    ]
  }
  return []
}

const text = (text: string): LegendPart => ({ kind: 'text', text })
const colour = (colour: string): LegendPart => ({ kind: 'colours', colours: [colour] })
