/** Statistics of the rewards of a group. */
import { meanOf } from './mean.ts'

/** A sample passes with this reward or more. */
const PASSING = 1

/** Statistics of a group's rewards. */
export interface GroupRewards {
  /** Number of samples with a reward; the others are ignored. */
  readonly scored: number
  readonly passed: number
  readonly mean: number
  /** Sample standard deviation (n − 1), as in PyTorch and the trainers that use it; 0 for a single sample. */
  readonly deviation: number
}

/** A trajectory of a group, with the number of its rollout. */
interface RewardedPath {
  readonly group: { readonly id: string; readonly index: number } | null
  readonly reward: number | null
}

/**
 * Returns the rewards by which trajectories count in their groups: null for a path of a rollout that an earlier one counts for, because both
 * have the number and the reward of the rollout. The leaves of a session are paths of one rollout.
 */
export function countedRewards(paths: readonly RewardedPath[]): readonly (number | null)[] {
  const counted = new Set<string>()
  return paths.map(({ group, reward }) => {
    if (!group || reward === null) return reward
    const rollout = JSON.stringify([group.id, group.index, reward])
    return counted.size < counted.add(rollout).size ? reward : null
  })
}

/** Returns the statistics, or undefined if no sample has a reward. */
export function groupRewards(rewards: readonly (number | null)[]): GroupRewards | undefined {
  const known = rewards.filter((reward) => reward !== null)
  const { length: scored } = known
  if (scored === 0) return undefined
  const mean = meanOf(known)
  const squares = known.reduce((sum, reward) => sum + (reward - mean) ** 2, 0)
  const deviation = scored > 1 ? Math.sqrt(squares / (scored - 1)) : 0
  return { scored, passed: known.filter((reward) => reward >= PASSING).length, mean, deviation }
}

/**
 * Returns the unbiased probability that at least one of k samples passes, given n of which some passed: 1 − C(n −
 * passed, k) / C(n, k) (Chen et al. 2021). Undefined for k > n.
 */
export function passAt(k: number, { scored, passed }: Pick<GroupRewards, 'scored' | 'passed'>): number | undefined {
  if (k > scored) return undefined
  let allFail = 1
  for (let drawn = 0; drawn < k; drawn++) allFail *= Math.max(0, scored - passed - drawn) / (scored - drawn)
  return 1 - allFail
}
