import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPositionFinder } from './text-position.ts'

test('positions have the line and column of the text before them, in any order of requests', () => {
  const text = fc.array(fc.constantFrom('a', '\n', '🙂', '\ud83d', 'é')).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, fc.array(fc.nat(30)), (given, offsets) => {
      const placeAt = createPositionFinder(given)
      for (const offset of offsets.filter((one) => one <= given.length)) {
        const lines = given.slice(0, offset).split('\n')
        expect(placeAt(offset)).toEqual({ offset, line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1 })
      }
    }),
  )
})
