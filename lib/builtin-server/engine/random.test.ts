import { describe, expect, test } from 'vitest'
import { createRandom } from './random.ts'

const numbers = (seed: number | undefined, count: number): number[] => {
  const uniform = createRandom(seed)
  return Array.from({ length: count }, uniform)
}

describe('A random generator', () => {
  test.each([0, 1, -1, 2 ** 31, 2 ** 53, -(2 ** 62)])(
    'with the seed %d gives the same numbers every time, and others than the next seed',
    (seed) => {
      expect(numbers(seed, 20)).toEqual(numbers(seed, 20))
      expect(numbers(seed, 20)).not.toEqual(numbers(seed === 2 ** 53 || seed < -1 ? 7 : seed + 1, 20))
    },
  )

  test('without a seed gives different numbers every time', () => {
    expect(numbers(undefined, 4)).not.toEqual(numbers(undefined, 4))
  })
})

describe('The random numbers of many consecutive seeds', () => {
  /** The first two numbers of each seed are tested, because a generation often draws no more. */
  const pairs = Array.from({ length: 4000 }, (_, seed) => numbers(seed, 2) as [number, number])
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

  test('are evenly distributed in [0, 1)', () => {
    const all = pairs.flat()
    expect(all.every((value) => value >= 0 && value < 1)).toBe(true)
    const counts = Array.from({ length: 20 }, (_, bin) => all.filter((value) => Math.floor(value * 20) === bin).length)
    const expected = all.length / 20
    const chiSquared = counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
    // With 19 degrees of freedom, 43.8 is exceeded once in a thousand times; the seeds are fixed.
    expect(chiSquared).toBeLessThan(43.8)
  })

  test('are independent', () => {
    const product = (a: readonly number[], b: readonly number[]) =>
      mean(a.map((value, i) => (value - 0.5) * ((b[i] as number) - 0.5)))
    const [first, second] = [pairs.map(([a]) => a), pairs.map(([, b]) => b)]
    // The standard deviation of such a mean of 4,000 is 1/12 / sqrt(4000) = 0.0013.
    expect(Math.abs(product(first, second))).toBeLessThan(0.005)
    expect(Math.abs(product(first.slice(1), first.slice(0, -1)))).toBeLessThan(0.005)
  })
})
