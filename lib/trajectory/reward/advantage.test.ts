import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ADVANTAGE_FORMULAS, type AdvantageFormula, advantageOf, type ScoredSample } from './advantage.ts'
import { groupRewards } from './group-rewards.ts'

interface GoldenCase {
  readonly rewards: readonly number[]
  readonly trained: readonly number[]
  readonly formulas: Readonly<
    Record<AdvantageFormula, { readonly ofSample: readonly number[]; readonly ofToken: readonly number[] }>
  >
}

/** golden/make_advantages.py writes the file with the functions of verl. */
const { cases } = JSON.parse(readFileSync(new URL('golden/advantages.json', import.meta.url), 'utf8')) as {
  readonly cases: readonly GoldenCase[]
}

/** Returns the advantage of each sample of a group. */
function advantagesOf(samples: readonly ScoredSample[], formula: AdvantageFormula) {
  const rewards = groupRewards(samples.map(({ reward }) => reward))
  return samples.map((sample) => rewards && advantageOf(sample, rewards, formula))
}

describe.each(ADVANTAGE_FORMULAS)('The advantages of %s', (formula) => {
  test.each(cases.map((golden, index) => ({ golden, index })))('are those of verl in case $index', ({ golden }) => {
    const { rewards, trained, formulas } = golden
    const found = advantagesOf(
      rewards.map((reward, index) => ({ reward, trained: trained[index] ?? 0 })),
      formula,
    )
    const expected = formulas[formula]
    for (const [index, advantage] of found.entries()) {
      expect(advantage?.ofSample).toBeCloseTo(expected.ofSample[index] ?? Number.NaN, 9)
      // verl adds 1e-8 to the number of tokens.
      expect(advantage?.ofToken).toBeCloseTo(expected.ofToken[index] ?? Number.NaN, 7)
    }
    expect(found).toHaveLength(rewards.length)
  })
})

describe('The advantage of a sample', () => {
  test('is unknown without a reward, and if no other sample has one', () => {
    const unscored = { reward: null, trained: 5 }
    expect(advantagesOf([{ reward: 1, trained: 5 }, unscored], 'mean')).toEqual([undefined, undefined])
    expect(advantagesOf([unscored, unscored], 'mean')).toEqual([undefined, undefined])
  })

  test('ignores samples without a reward', () => {
    const scored = [1, 0].map((reward) => ({ reward, trained: 2 }))
    const [first, , last] = advantagesOf(
      [...scored.slice(0, 1), { reward: null, trained: 9 }, ...scored.slice(1)],
      'mean',
    )
    expect([first?.ofSample, last?.ofSample]).toEqual([0.5, -0.5])
  })

  test('is 0 for equal rewards, and for a sample without trained tokens it is not divided', () => {
    const equal = [0, 3].map((trained) => ({ reward: 0.1, trained }))
    for (const formula of ADVANTAGE_FORMULAS)
      expect(advantagesOf(equal, formula)).toEqual([
        { ofSample: 0, ofToken: 0 },
        { ofSample: 0, ofToken: 0 },
      ])
    const [untrained] = advantagesOf(
      [
        { reward: 1, trained: 0 },
        { reward: 0, trained: 4 },
      ],
      'mean-by-length',
    )
    expect(untrained).toEqual({ ofSample: 0.5, ofToken: 0.5 })
  })
})
