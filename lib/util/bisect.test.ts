import fc from 'fast-check'
import { expect, test } from 'vitest'
import { countWhile } from './bisect.ts'

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
