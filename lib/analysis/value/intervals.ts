/** Confidence intervals of a mean reward, and the test whether the mean drops between two positions. */
import { meanOf } from '#lib/trajectory/reward/mean.ts'
import {
  binomialUpperTail,
  bisect,
  hypergeometricUpperTail,
  studentQuantile,
  studentUpperTail,
} from './distributions.ts'

/** The smallest and the largest possible reward. */
export interface RewardRange {
  readonly low: number
  readonly high: number
}

/** The range of every reward rule. */
const RULE_RANGE: RewardRange = { low: 0, high: 1 }

/** How an interval was computed. */
type IntervalMethod = 'clopper-pearson' | 'student' | 'hoeffding'

/** The mean of rewards with its confidence interval. */
export interface MeanInterval {
  readonly mean: number
  readonly low: number
  readonly high: number
  readonly method: IntervalMethod
}

/**
 * Returns the mean with an interval that misses the true mean with at most the probability `error`; undefined without rewards.
 * Rewards of 0 and 1 get the exact interval of Clopper and Pearson. Other rewards get Student's interval, cut to their range. Equal
 * rewards have no deviation, so Student's interval would have no width: they get Hoeffding's, which holds for any rewards of the range.
 */
export function meanInterval(
  rewards: readonly number[],
  error: number,
  range: RewardRange = RULE_RANGE,
): MeanInterval | undefined {
  const n = rewards.length
  if (n === 0) return undefined
  const mean = meanOf(rewards)
  if (areBinary(rewards)) return { mean, ...clopperPearson(sumOf(rewards), n, error), method: 'clopper-pearson' }
  const deviation = n > 1 ? Math.sqrt(squaresAround(rewards, mean) / (n - 1)) : 0
  const [method, half]: [IntervalMethod, number] =
    deviation > 0
      ? ['student', (studentQuantile(error / 2, n - 1) * deviation) / Math.sqrt(n)]
      : ['hoeffding', (range.high - range.low) * Math.sqrt(Math.log(2 / error) / (2 * n))]
  return { mean, low: Math.max(range.low, mean - half), high: Math.min(range.high, mean + half), method }
}

/** Whether all rewards are 0 or 1. */
const areBinary = (rewards: readonly number[]): boolean => rewards.every((reward) => reward === 0 || reward === 1)

/** Returns the interval of a share that `passed` of `n` have. */
function clopperPearson(passed: number, n: number, error: number): { readonly low: number; readonly high: number } {
  const tail = error / 2
  return {
    low: passed === 0 ? 0 : bisect(0, 1, (share) => binomialUpperTail(passed, n, share) < tail),
    high: passed === n ? 1 : bisect(0, 1, (share) => 1 - binomialUpperTail(passed + 1, n, share) > tail),
  }
}

/** How a difference was tested. */
type DropTest = 'fisher' | 'student' | 'permutation'

/** A test whether the second mean is lower than the first: its name and its one-sided p. */
export interface TestedDrop {
  readonly test: DropTest
  readonly p: number
}

/**
 * Tests whether rewards drop: Fisher's exact test for rewards of 0 and 1, and Student's test with the common variance for others.
 * Samples without any deviation have no variance to compare with: the share of permutations that differ as much is exact for them.
 */
export function testDrop(before: readonly number[], after: readonly number[]): TestedDrop {
  const [n, m] = [before.length, after.length]
  if (areBinary(before) && areBinary(after)) {
    const passed = sumOf(before)
    return { test: 'fisher', p: hypergeometricUpperTail(passed, n, passed + sumOf(after), n + m) }
  }
  if (n === 0 || m === 0) return { test: 'permutation', p: 1 }
  const drop = meanOf(before) - meanOf(after)
  const squares = squaresAround(before, meanOf(before)) + squaresAround(after, meanOf(after))
  if (squares > 0) {
    const error = Math.sqrt((squares / (n + m - 2)) * (1 / n + 1 / m))
    return { test: 'student', p: studentUpperTail(drop / error, n + m - 2) }
  }
  // Only the observed permutation separates two different values.
  return { test: 'permutation', p: drop > 0 ? hypergeometricUpperTail(n, n, n, n + m) : 1 }
}

/** Returns the p values of several tests after Holm's correction, in the same order. */
export function holmAdjusted(values: readonly number[]): readonly number[] {
  const order = values.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p)
  const adjusted = Array<number>(values.length).fill(1)
  let largest = 0
  for (const [rank, { p, index }] of order.entries()) {
    largest = Math.max(largest, Math.min(1, p * (values.length - rank)))
    adjusted[index] = largest
  }
  return adjusted
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

const squaresAround = (values: readonly number[], mean: number): number =>
  sumOf(values.map((value) => (value - mean) ** 2))
