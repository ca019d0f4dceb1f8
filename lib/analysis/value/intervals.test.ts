/** Compares intervals and tests with scipy’s (golden/make_value.py), and their error rates with what they promise. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { elementAt } from '#lib/util/element-at.ts'
import { valueCurve } from './curve.ts'
import { binomialUpperTail, hypergeometricUpperTail, studentQuantile, studentUpperTail } from './distributions.ts'
import { holmAdjusted, meanInterval, testDrop } from './intervals.ts'

const rewards = z.array(z.number())
const shares = z.tuple([z.number(), z.number()])
const bounds = { error: z.number(), low: z.number(), high: z.number() }
const golden = z
  .object({
    binary: z.array(z.object({ passed: z.int(), n: z.int(), ...bounds })),
    student: z.array(z.object({ rewards, ...bounds })),
    tails: z.array(z.object({ t: z.number(), degrees: z.int(), p: z.number() })),
    fisher: z.array(z.object({ before: shares, after: shares, p: z.number() })),
    drops: z.array(z.object({ before: rewards, after: rewards, p: z.number() })),
    holm: z.array(z.object({ values: rewards, adjusted: rewards })),
  })
  .parse(JSON.parse(readFileSync('lib/analysis/value/golden/value.json', 'utf8')))

const passes = (passed: number, n: number): number[] =>
  Array.from({ length: n }, (_, index) => (index < passed ? 1 : 0))

describe('Value estimates give the numbers of scipy', () => {
  test('for the interval of rewards that are 0 or 1', () => {
    for (const { passed, n, error, low, high } of golden.binary) {
      const interval = meanInterval(passes(passed, n), error)
      expect(interval).toMatchObject({ mean: passed / n, method: 'clopper-pearson' })
      expect(interval?.low).toBeCloseTo(low, 9)
      expect(interval?.high).toBeCloseTo(high, 9)
    }
  })

  test('for Student’s interval, cut to the range of the reward', () => {
    for (const { rewards, error, low, high } of golden.student) {
      const interval = meanInterval(rewards, error)
      expect(interval?.method).toBe('student')
      expect(interval?.low).toBeCloseTo(low, 9)
      expect(interval?.high).toBeCloseTo(high, 9)
    }
  })

  test('for the tails of Student’s distribution', () => {
    for (const { t, degrees, p } of golden.tails) {
      expect(studentUpperTail(t, degrees)).toBeCloseTo(p, 12)
      if (p > 0 && p < 0.5) expect(studentQuantile(p, degrees)).toBeCloseTo(t, 6)
    }
  })

  test('for Fisher’s exact test and Student’s test of a drop, and for Holm’s correction', () => {
    for (const { before, after, p } of golden.fisher) {
      const found = testDrop(passes(...before), passes(...after))
      expect(found.test).toBe('fisher')
      expect(found.p / p).toBeCloseTo(1, 9)
    }
    for (const { before, after, p } of golden.drops) {
      const found = testDrop(before, after)
      expect(found.test).toBe('student')
      expect(found.p).toBeCloseTo(p, 12)
    }
    for (const { values, adjusted } of golden.holm)
      for (const [index, p] of holmAdjusted(values).entries()) expect(p).toBeCloseTo(elementAt(adjusted, index), 12)
  })
})

describe('The interval of a mean reward', () => {
  test('is inside the range and contains the mean, for any rewards', () => {
    const reward = fc.oneof(fc.constantFrom(0, 1, 0.5), fc.double({ min: 0, max: 1, noNaN: true }))
    fc.assert(
      fc.property(
        fc.array(reward, { minLength: 1, maxLength: 64 }),
        fc.double({ min: 1e-4, max: 0.5, noNaN: true }),
        (rewards, error) => {
          const interval = meanInterval(rewards, error)
          if (!interval) throw new Error('there are rewards')
          expect(interval.low).toBeGreaterThanOrEqual(0)
          expect(interval.high).toBeLessThanOrEqual(1)
          expect(interval.low).toBeLessThanOrEqual(interval.mean + 1e-12)
          expect(interval.high).toBeGreaterThanOrEqual(interval.mean - 1e-12)
        },
      ),
    )
    expect(meanInterval([], 0.05)).toBe(undefined)
  })

  test('of equal rewards that are neither 0 nor 1 has a width, and one reward says nothing', () => {
    const interval = meanInterval(Array<number>(50).fill(0.5), 0.05)
    expect(interval?.method).toBe('hoeffding')
    expect(interval?.high).toBeCloseTo(0.5 + Math.sqrt(Math.log(40) / 100), 12)
    expect(meanInterval([0.5], 0.05)).toMatchObject({ low: 0, high: 1 })
    expect(meanInterval([-3], 0.05, { low: -5, high: 5 })).toMatchObject({ low: -5, high: 5 })
  })

  test('of equal rewards has a width although their sum is rounded, and they drop only by a permutation', () => {
    for (const reward of [0.1, 0.7, 0.9, 1 / 3])
      for (let count = 1; count < 12; count++) {
        const equal = Array<number>(count).fill(reward)
        expect(meanInterval(equal, 0.05)).toMatchObject({ mean: reward, method: 'hoeffding' })
        expect(testDrop(equal, [...equal, reward])).toEqual({ test: 'permutation', p: 1 })
      }
    const { test, p } = testDrop([0.3, 0.3, 0.3], [0.1, 0.1, 0.1])
    expect(test).toBe('permutation')
    expect(p).toBeCloseTo(1 / 20, 12)
  })

  test('contains the true share with at least 95 %, whatever the share is', () => {
    for (const n of [2, 8, 16]) {
      const intervals = Array.from({ length: n + 1 }, (_, passed) => meanInterval(passes(passed, n), 0.05))
      for (let share = 0.01; share < 1; share += 0.01) {
        const coverage = intervals.reduce((sum, interval, passed) => {
          const chance = binomialUpperTail(passed, n, share) - binomialUpperTail(passed + 1, n, share)
          return sum + (interval && interval.low <= share && share <= interval.high ? chance : 0)
        }, 0)
        expect(coverage).toBeGreaterThanOrEqual(0.95 - 1e-9)
      }
    }
  })

  test('contains the true mean of uniform rewards in about 95 % of simulated estimates', () => {
    const draw = generator(7)
    const estimates = 4_000
    let covered = 0
    for (let estimate = 0; estimate < estimates; estimate++) {
      const interval = meanInterval(Array.from({ length: 8 }, draw), 0.05)
      if (interval && interval.low <= 0.5 && 0.5 <= interval.high) covered++
    }
    expect(covered / estimates).toBeGreaterThan(0.935)
    expect(covered / estimates).toBeLessThan(0.965)
  })
})

describe('A drop between positions', () => {
  test('that no sample shows has the p 1, also where samples are missing or constant', () => {
    expect(testDrop([], [0.5]).p).toBe(1)
    expect(testDrop([0.5], []).p).toBe(1)
    expect(testDrop([0.25, 0.25], [0.5, 0.5])).toEqual({ test: 'permutation', p: 1 })
    expect(testDrop([1, 1], [1, 1])).toEqual({ test: 'fisher', p: 1 })
  })

  test('between constant samples has the share of permutations that separate them', () => {
    expect(testDrop([0.5, 0.5], [0.25, 0.25])).toEqual({ test: 'permutation', p: expect.closeTo(1 / 6, 12) })
    expect(hypergeometricUpperTail(2, 2, 2, 4)).toBeCloseTo(1 / 6, 12)
  })

  test.each([
    ['0 or 1', 1, true, 0.05],
    // Student's interval is exact for normal rewards only: far in the tails, eight uniform ones vary too little.
    ['uniform', 2, false, 0.1],
  ] as const)(
    'is found on a flat curve in at most 1 of 20 simulated estimates, and all intervals hold as often as promised, for rewards that are %s',
    (_, seed, isBinary, misses) => {
      const draw = generator(seed)
      const estimates = 800
      let found = 0
      let missed = 0
      for (let estimate = 0; estimate < estimates; estimate++) {
        const positions = Array.from({ length: 10 }, (_, at) => ({
          at,
          rewards: Array.from({ length: 8 }, () => (isBinary ? Math.round(draw()) : draw())),
        }))
        const { means, cliff } = valueCurve(positions, true)
        if (cliff) found++
        if (means.some((mean) => mean && (mean.low > 0.5 || mean.high < 0.5))) missed++
      }
      const mostOf = (share: number) => share + 3 * Math.sqrt((share * (1 - share)) / estimates)
      expect(found / estimates).toBeLessThan(mostOf(0.05))
      expect(missed / estimates).toBeLessThan(mostOf(misses))
    },
  )
})

/** Returns a function that draws uniform numbers from 0 to 1 (mulberry32). */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
