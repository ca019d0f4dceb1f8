/** Colours by their names in the style sheet. Heat has few levels, so that rows and the minimap use the same ones. */

/** Number of levels on each side of a scale. */
export const HEAT_LEVELS = 8
/** Returns the CSS colour of a level above the origin, 1 to HEAT_LEVELS. */
export const heat = (level: number): string => `var(--heat-${level})`
/** Returns the CSS colour of a level below the middle of a diverging scale, 1 to HEAT_LEVELS. */
export const cool = (level: number): string => `var(--cool-${level})`
/** CSS colour of a trained token whose value is unknown. */
export const NO_DATA = 'var(--heat-unknown)'
/** CSS colour of trained tokens in the mask mode. */
export const MASK_ON = 'var(--mask-on)'

/** Number of colours without an order, for categories that only have to differ from their neighbours. */
export const TINTS = 8
/** Returns the CSS colour of a category; colours repeat after TINTS. */
export const tint = (index: number): string => `var(--tint-${(index % TINTS) + 1})`
