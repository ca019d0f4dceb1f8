import fc from 'fast-check'
import { expect, test } from 'vitest'
import { selectPercentile } from './percentile.ts'

test('percentile returns exactly the value that sorting gives', () => {
  const values = fc.array(fc.oneof(fc.integer({ min: -5, max: 5 }), fc.double({ noNaN: true })), { maxLength: 200 })
  fc.assert(
    fc.property(values, fc.double({ min: 0, max: 1, noNaN: true }), (list, share) => {
      const sorted = Float64Array.from(list).sort()
      const expected = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
      expect(selectPercentile(Float64Array.from(list), share) === expected).toBe(true)
    }),
  )
})

test('percentile of no values is undefined', () => {
  expect(selectPercentile(new Float64Array(), 0.95)).toBeUndefined()
})
