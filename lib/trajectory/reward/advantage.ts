/** Advantages of the samples of a group, as trainers compute them from rewards. */
import type { GroupRewards } from './group-rewards.ts'

/** Formulas of advantages. Those that end with `by-length` also divide by the trained tokens of the sample. */
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

/** The formula of GRPO, without length normalisation. */
export const DEFAULT_FORMULA: AdvantageFormula = 'mean-std'

/** The part of a sample from which its advantage follows. */
export interface ScoredSample {
  /** null: not scored. */
  readonly reward: number | null
  /** Number of trained tokens. */
  readonly trained: number
}

/** The advantage of a sample. */
export interface Advantage {
  /** Of the whole sample, before length normalisation. */
  readonly ofSample: number
  /** Of each of its trained tokens. A constant factor that all samples have, such as 1 / the longest response, is left out. */
  readonly ofToken: number
}

/** Returns the advantage of a sample in a group with these rewards; undefined without a reward, and if no other sample has one. */
export function advantageOf(
  { reward, trained }: ScoredSample,
  rewards: GroupRewards,
  formula: AdvantageFormula,
): Advantage | undefined {
  if (reward === null || rewards.scored < 2) return undefined
  const ofSample = (reward - rewards.mean) * scaleOf(rewards, formula)
  return { ofSample, ofToken: formula.endsWith('-by-length') ? ofSample / Math.max(1, trained) : ofSample }
}

/** Added to the deviation, as verl does. TRL adds 1e-4. */
const EPSILON = 1e-6

function scaleOf({ deviation, scored }: GroupRewards, formula: AdvantageFormula): number {
  if (formula.startsWith('mean-std')) return 1 / (deviation + EPSILON)
  // reward − mean of the others = (reward − mean of all) · n / (n − 1).
  return formula.startsWith('leave-one-out') ? scored / (scored - 1) : 1
}
