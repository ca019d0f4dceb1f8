import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isDeeperThan, tooDeepAt } from './json-depth.ts'

const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

test('tooDeepAt and isDeeperThan agree for any JSON', () => {
  const texts = fc.string({ unit: fc.constantFrom('[', ']', '{', '}', '"', '\\', 'a', '¤') })
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6, stringUnit: 'grapheme' }), texts, (value, text) => {
      const mixed = [text, { [text]: value }]
      const json = JSON.stringify(mixed)
      const depth = depthOf(mixed)
      expect(tooDeepAt(json, depth)).toBeUndefined()
      expect('[{').toContain(json[tooDeepAt(json, depth - 1) ?? -1])
      expect([isDeeperThan(depth, mixed), isDeeperThan(depth - 1, mixed)]).toEqual([false, true])
    }),
  )
})

test.each([
  ['[[[]]]', 3, undefined],
  ['[[[]]]', 2, 2],
  ['[[],{"[":{}}]', 2, 9],
  ['"[[[', 0, undefined],
  ['"\\', 0, undefined],
  [']]][[', 0, undefined],
])('tooDeepAt of %s with %d levels: %s', (text, levels, at) => {
  expect(tooDeepAt(text, levels)).toBe(at)
})

test('tooDeepAt takes linear time for a million levels', () => {
  expect(tooDeepAt('[{"a":'.repeat(1e6), 2e6 - 1)).toBe(6 * 999_999 + 1)
})
