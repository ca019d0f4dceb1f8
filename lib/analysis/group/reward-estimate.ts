/** The mean reward of some samples of a group. */
import type { RewardEstimate } from '#lib/api/forest/group-forest.ts'
import { meanInterval, type RewardRange } from '../value/intervals.ts'

/** Probability with which an interval misses the true mean. */
const ERROR = 0.05

/** Returns the estimate of at least one reward. */
export function estimateOf(rewards: readonly number[], range: RewardRange): RewardEstimate {
  const found = meanInterval(rewards, ERROR, range)
  if (!found) throw new RangeError('an estimate needs a reward')
  const { mean, low, high, method } = found
  return { known: rewards.length, mean, interval: { low, high }, method }
}

/** The range of every reward rule. */
const RULE_RANGE: RewardRange = { low: 0, high: 1 }

/** Returns the range of rewards: that of rules if all are within it, otherwise from the smallest to the largest. */
export function rewardRange(rewards: readonly number[]): RewardRange {
  const [low, high] = [Math.min(...rewards), Math.max(...rewards)]
  return low >= RULE_RANGE.low && high <= RULE_RANGE.high ? RULE_RANGE : { low, high }
}
