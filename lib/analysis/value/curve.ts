/** The value curve: the mean reward of resamples at each position, and where it drops. */
import type { ValueCliff, ValueReading } from '#lib/api/forest/value.ts'
import { meanOf } from '#lib/trajectory/reward/mean.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { ERROR_RATE, isSignificant } from '../significance.ts'
import { holmAdjusted, type MeanInterval, meanInterval, type RewardRange, testDrop } from './intervals.ts'

/** Probability that all intervals of an estimate contain their true means. */
export const CONFIDENCE_LEVEL = 1 - ERROR_RATE

/** The rewards of the resamples at one position. */
export interface PositionRewards {
  /** Index of the first token that was sampled anew. */
  readonly at: number
  readonly rewards: readonly number[]
}

/** A curve over positions. */
export interface ValueCurve {
  /** One for each position; null without rewards. */
  readonly means: readonly (MeanInterval | null)[]
  /** The largest drop between neighbouring positions that is significant; null if there is none. */
  readonly cliff: ValueCliff | null
  readonly reading: ValueReading
}

/**
 * Returns the curve of positions in ascending order. The intervals of m positions hold together: each has the error rate divided by
 * m (Bonferroni). A drop is significant if its one-sided p is at most the error rate after Holm's correction for all m − 1 drops.
 * Without all rewards no drop is tested, because looking again after each resample finds differences that do not exist.
 */
export function valueCurve(
  positions: readonly PositionRewards[],
  isComplete: boolean,
  range?: RewardRange,
): ValueCurve {
  const means = positions.map(({ rewards }) => meanInterval(rewards, ERROR_RATE / positions.length, range) ?? null)
  const cliff = isComplete ? largestDrop(positions) : null
  return { means, cliff, reading: readingOf(positions, isComplete, cliff) }
}

function largestDrop(positions: readonly PositionRewards[]): ValueCliff | null {
  const scored = positions.filter(({ rewards }) => rewards.length > 0)
  const pairs = scored.slice(1).map((after, index) => {
    const before = elementAt(scored, index)
    const [high, low] = [meanOf(before.rewards), meanOf(after.rewards)]
    return { from: before.at, to: after.at, high, low, ...testDrop(before.rewards, after.rewards) }
  })
  const adjusted = holmAdjusted(pairs.map(({ p }) => p))
  return pairs.reduce<ValueCliff | null>((largest, { from, to, high, low, test }, index) => {
    const p = elementAt(adjusted, index)
    const drop = high - low
    return isSignificant(p) && drop > (largest?.drop ?? 0)
      ? { from, to, before: high, after: low, drop, p, test }
      : largest
  }, null)
}

function readingOf(positions: readonly PositionRewards[], isComplete: boolean, cliff: ValueCliff | null): ValueReading {
  if (!isComplete) return 'incomplete'
  if (positions.length === 1) return 'single'
  return cliff ? 'cliff' : 'exploratory'
}
