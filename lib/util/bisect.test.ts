import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countWhile, countWhileFrom } from './bisect.ts'

test('countWhile returns the same count as a linear scan, with logarithmic calls', () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.nat(1000), (count, place) => {
      let looks = 0
      const found = countWhile(count, (index) => {
        looks++
        return index < place
      })
      expect(found).toBe(Math.min(count, place))
      expect(looks).toBeLessThanOrEqual(Math.ceil(Math.log2(count + 1)))
    }),
  )
})

test('countWhileFrom returns the same count from every index up to it, with two tests for each doubling of the distance', () => {
  fc.assert(
    fc.property(fc.nat(1000), fc.nat(1000), fc.nat(1000), (count, place, before) => {
      const expected = Math.min(count, place)
      const from = Math.min(before, expected)
      let looks = 0
      const found = countWhileFrom(from, count, (index) => {
        looks++
        return index < place
      })
      expect(found).toBe(expected)
      expect(looks).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(expected - from + 2)))
    }),
  )
})
