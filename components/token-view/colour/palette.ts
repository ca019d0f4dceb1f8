/** Colours by their names in the style sheet. Heat has few levels, so that rows and the minimap draw the same ones. */

export const HEAT_LEVELS = 8
export const heat = (level: number): string => `var(--heat-${level})`
/** Below the middle of a scale that goes both ways. */
export const cool = (level: number): string => `var(--cool-${level})`
export const NO_DATA = 'var(--heat-unknown)'
export const MASK_ON = 'var(--mask-on)'

/** Colours without an order, for what only has to be told from its neighbours. */
export const TINTS = 8
export const tint = (index: number): string => `var(--tint-${(index % TINTS) + 1})`
