/** Stands in place of ratios, or of the code of their lists, until they are there. */
export const AWAITED = <div data-awaited />

/** Class of what follows: it would move when they arrive, so it is invisible until then. */
export const AFTER_AWAITED = '[[data-awaited]~&]:invisible'
