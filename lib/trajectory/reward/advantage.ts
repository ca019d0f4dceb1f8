/** Advantages of the samples of a group, as trainers compute them from rewards. */

/** Formulas of advantages. Those that end with `by-length` divide by the trained tokens of the sample. */
export const ADVANTAGE_FORMULAS = [
  'mean-std',
  'mean-std-by-length',
  'mean',
  'mean-by-length',
  'leave-one-out',
  'leave-one-out-by-length',
] as const
/** Name of a formula of advantages. */
export type AdvantageFormula = (typeof ADVANTAGE_FORMULAS)[number]
