/** What the rewards of a group say together. */

/** A sample passes with this reward or more. */
const PASSING = 1

export interface GroupRewards {
  /** Samples that have a reward; the others count nowhere. */
  readonly scored: number
  readonly passed: number
  readonly mean: number
  /** Of a sample (n − 1), as PyTorch and the trainers on it take it; 0 for a single one. */
  readonly deviation: number
}

/** undefined where none has a reward. */
export function groupRewards(rewards: readonly (number | null)[]): GroupRewards | undefined {
  const known = rewards.filter((reward) => reward !== null)
  const { length: scored } = known
  if (scored === 0) return undefined
  const mean = sum(known) / scored
  const squares = sum(known.map((reward) => (reward - mean) ** 2))
  const deviation = scored > 1 ? Math.sqrt(squares / (scored - 1)) : 0
  return { scored, passed: known.filter((reward) => reward >= PASSING).length, mean, deviation }
}

/** (reward − mean) / deviation, as GRPO rescores a sample; 0 where all have the same reward. */
export const advantage = (reward: number, { mean, deviation }: GroupRewards): number =>
  deviation === 0 ? 0 : (reward - mean) / deviation

/**
 * The chance that at least one of k samples passes, from n of which some passed: 1 − C(n − passed, k) / C(n, k), without
 * bias (Chen et al. 2021). undefined for k > n: there is no telling.
 */
export function passAt(k: number, { scored, passed }: Pick<GroupRewards, 'scored' | 'passed'>): number | undefined {
  if (k > scored) return undefined
  let allFail = 1
  for (let drawn = 0; drawn < k; drawn++) allFail *= Math.max(0, scored - passed - drawn) / (scored - drawn)
  return 1 - allFail
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
