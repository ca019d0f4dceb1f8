import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hasSameJson } from './same-json.ts'

test('hasSameJson is true for exactly those values whose JSON texts are equal', () => {
  const values = fc.letrec((tie) => ({
    value: fc.oneof(
      fc.constantFrom(null, true, 0, -0, 1.5, '', 'a'),
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), fc.option(tie('value'), { nil: undefined }), {
        maxKeys: 2,
      }),
    ),
  })).value
  fc.assert(
    fc.property(values, values, (one, other) => {
      expect(hasSameJson(one, other)).toBe(JSON.stringify(one) === JSON.stringify(other))
      expect(hasSameJson(one, JSON.parse(JSON.stringify(one)))).toBe(true)
    }),
  )
})

test.each([
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, false],
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [[1, 2], [1], false],
  [[], {}, false],
  [{}, [], false],
  [[], null, false],
  [0, -0, true],
])('hasSameJson(%j, %j) is %j', (one, other, same) => {
  expect(hasSameJson(one, other)).toBe(same)
})
