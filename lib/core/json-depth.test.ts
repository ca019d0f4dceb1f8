import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonDepth } from './json-depth.ts'

test.each([
  [undefined, 0],
  [null, 0],
  ['[[', 0],
  [[], 1],
  [{}, 1],
  [[1, { a: null }, [[]]], 3],
])('%j is %i deep', (value, depth) => {
  expect(jsonDepth(value)).toBe(depth)
})

test('what is put into an array or object is one deeper', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      const deeper = Math.max(jsonDepth(a), jsonDepth(b)) + 1
      expect([jsonDepth([a, b]), jsonDepth({ a, b })]).toEqual([deeper, deeper])
    }),
  )
})

test('depth costs no stack', () => {
  expect(jsonDepth(JSON.parse(`${'['.repeat(200_000)}${']'.repeat(200_000)}`))).toBe(200_000)
})
