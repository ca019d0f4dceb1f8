/** The token of a group with the largest difference in mean reward between its branches, and how likely chance gives one as large. */
import type { DecisiveToken, GroupSplit } from '#lib/api/forest/group-forest.ts'
import { float64At } from '#lib/util/element-at.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'
import { isSignificant } from '../significance.ts'
import type { RewardRange } from '../value/intervals.ts'
import { estimateOf } from './reward-estimate.ts'

/** Fewest samples with a reward in a branch that is compared. */
const FEWEST = 2

/** Branches of one split, as lists of samples that have a reward. */
interface ComparedSplit {
  readonly split: number
  readonly position: number
  readonly branches: readonly { readonly branch: number; readonly samples: readonly number[] }[]
}

/**
 * Returns the decisive token; undefined if no split has two branches with two rewards each, or if no mean differs. Of equal differences
 * the first position counts. `rewards` has one entry for each sample.
 */
export function decisiveToken(
  splits: readonly Pick<GroupSplit, 'position' | 'branches'>[],
  rewards: readonly (number | null)[],
  range: RewardRange,
): DecisiveToken | undefined {
  const compared = comparedSplits(splits, rewards)
  const known = rewards.flatMap((reward, sample) => (reward === null ? [] : [{ reward, sample }]))
  const bySample = Float64Array.from(rewards, (reward) => reward ?? Number.NaN)
  const rounding = ROUNDING * known.reduce((most, { reward }) => Math.max(most, Math.abs(reward)), 0)
  const found = compared
    .map((each) => ({ ...each, ...extremesOf(each, bySample) }))
    .reduce<(Extremes & ComparedSplit) | undefined>(
      (best, next) => (best && !isLarger(next, best, rounding) ? best : next),
      undefined,
    )
  if (!found || found.difference <= rounding) return undefined
  const { split, position, high, low, difference, branches } = found
  const rewardsIn = (branch: number): readonly number[] =>
    branches.find((each) => each.branch === branch)?.samples.map((sample) => float64At(bySample, sample)) ?? []
  const { chance, method } = chanceOf(difference - rounding, compared, known, rewards.length)
  return {
    split,
    position,
    high,
    low,
    difference,
    interval: differenceInterval(rewardsIn(high), rewardsIn(low), range),
    tested: compared.length,
    chance,
    method,
    isSignificant: isSignificant(chance),
  }
}

const isLarger = (a: Extremes & ComparedSplit, b: Extremes & ComparedSplit, rounding: number): boolean =>
  a.difference > b.difference + rounding || (a.difference >= b.difference - rounding && a.position < b.position)

/** Means of the same rewards in another order may differ by this part of the largest reward. */
const ROUNDING = 1e-9

const comparedSplits = (
  splits: readonly Pick<GroupSplit, 'position' | 'branches'>[],
  rewards: readonly (number | null)[],
): readonly ComparedSplit[] =>
  splits.flatMap(({ position, branches }, split) => {
    const compared = branches.flatMap(({ samples }, branch) => {
      const scored = samples.filter((sample) => rewards[sample] !== null)
      return scored.length < FEWEST ? [] : [{ branch, samples: scored }]
    })
    return compared.length < 2 ? [] : [{ split, position, branches: compared }]
  })

interface Extremes {
  readonly high: number
  readonly low: number
  readonly difference: number
}

/** Returns the branches with the highest and the lowest mean reward. */
function extremesOf({ branches }: ComparedSplit, bySample: Float64Array): Extremes {
  let [high, low] = [0, 0]
  let [highest, lowest] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (const { branch, samples } of branches) {
    let sum = 0
    for (const sample of samples) sum += float64At(bySample, sample)
    const mean = sum / samples.length
    if (mean > highest) [high, highest] = [branch, mean]
    if (mean < lowest) [low, lowest] = [branch, mean]
  }
  return { high, low, difference: highest - lowest }
}

/** Returns the interval of a difference of means from the interval of each (Zou and Donner, Statistics in Medicine 2008). */
function differenceInterval(
  high: readonly number[],
  low: readonly number[],
  range: RewardRange,
): DecisiveToken['interval'] {
  const [a, b] = [estimateOf(high, range), estimateOf(low, range)]
  const difference = a.mean - b.mean
  return {
    low: difference - Math.hypot(a.mean - a.interval.low, b.interval.high - b.mean),
    high: difference + Math.hypot(a.interval.high - a.mean, b.mean - b.interval.low),
  }
}

/** Most assignments that are all computed. 8 different rewards have 40,320. */
const MOST_ASSIGNMENTS = 50_000
/** Number of random assignments otherwise: the standard error of a chance of 5 % is 0.3 %. */
const DRAWN = 5_000

/**
 * Returns the share of assignments of the rewards to the samples in which some of the splits differs at least by `least`. Taking the largest
 * difference of all splits in each assignment accounts for the number of splits (Westfall and Young 1993).
 */
function chanceOf(
  least: number,
  compared: readonly ComparedSplit[],
  known: readonly { readonly reward: number; readonly sample: number }[],
  count: number,
): Pick<DecisiveToken, 'chance' | 'method'> {
  const bySample = new Float64Array(count)
  const order = Float64Array.from(known, ({ reward }) => reward).sort()
  const isAsLarge = (): boolean => {
    for (const [index, { sample }] of known.entries()) bySample[sample] = float64At(order, index)
    return compared.some((each) => extremesOf(each, bySample).difference >= least)
  }
  let as = 0
  if (assignments(order) <= MOST_ASSIGNMENTS) {
    let all = 0
    do {
      all++
      if (isAsLarge()) as++
    } while (nextPermutation(order))
    return { chance: as / all, method: 'exact' }
  }
  // The same group must have the same chance each time.
  const random = randomNumbers(count)
  for (let draw = 0; draw < DRAWN; draw++) {
    shuffle(order, random)
    if (isAsLarge()) as++
  }
  // The observed assignment is one of them, so the chance is never 0.
  return { chance: (as + 1) / (DRAWN + 1), method: 'sampled' }
}

/** Returns the number of different orders of sorted numbers. */
function assignments(sorted: Float64Array): number {
  let count = 1
  let equal = 0
  for (const [index, value] of sorted.entries()) {
    equal = value === sorted[index - 1] ? equal + 1 : 1
    count *= (index + 1) / equal
  }
  return Math.round(count)
}

/** Changes the order to the next one in lexicographic order. Returns false after the last. */
function nextPermutation(order: Float64Array): boolean {
  let at = order.length - 2
  while (at >= 0 && float64At(order, at) >= float64At(order, at + 1)) at--
  if (at < 0) return false
  let larger = order.length - 1
  while (float64At(order, larger) <= float64At(order, at)) larger--
  swap(order, at, larger)
  order.subarray(at + 1).reverse()
  return true
}

function shuffle(order: Float64Array, random: () => number): void {
  for (let index = order.length - 1; index > 0; index--) swap(order, index, Math.floor(random() * (index + 1)))
}

function swap(order: Float64Array, a: number, b: number): void {
  const value = float64At(order, a)
  order[a] = float64At(order, b)
  order[b] = value
}
