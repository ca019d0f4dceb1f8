import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deltaHistogram } from './histogram.ts'
import type { RescoredUnits } from './units.ts'

const histogram = (deltas: readonly number[], noise: readonly number[] = []) =>
  deltaHistogram(
    {
      count: deltas.length,
      deltas: Float64Array.from(deltas),
      trained: Int32Array.from(deltas, () => 1),
    } as RescoredUnits,
    Float64Array.from(noise),
  )

test('histogram bins are half decades, by the absolute difference', () => {
  const { from, deltas, noise } = histogram([0, 2e-5, -0.2, 50])
  const lower = deltas.flatMap((share, bin) => (share > 0 ? [from[bin]] : []))
  expect(lower.map((bound) => Number(bound?.toPrecision(3)))).toEqual([0, 1e-5, 0.1, 10])
  expect(noise).toBeUndefined()
})

test('histogram shares sum up to one, and every difference is in its bin', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 700, noNaN: true }), (size) => {
      const { from, deltas, noise } = histogram([-size], [size])
      const bin = deltas.indexOf(1)
      expect(noise).toEqual(deltas)
      expect(size).toBeGreaterThanOrEqual((from[bin] as number) * (1 - 1e-12))
      expect(size).toBeLessThanOrEqual((from[bin + 1] ?? Number.POSITIVE_INFINITY) * (1 + 1e-12))
    }),
  )
})
