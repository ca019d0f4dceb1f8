/** The rule that decides whether a difference of rewards is named, or may be chance. */

/** Probability that an interval misses its true mean, or that a difference is named which is chance. */
export const ERROR_RATE = 0.05

/**
 * Returns whether a token may be called decisive. `chance` is the probability of a difference as large by chance, corrected for all
 * differences that were compared.
 */
export const isSignificant = (chance: number): boolean => chance <= ERROR_RATE
