import { expect, test } from 'vitest'
import { elementAt } from './element-at.ts'

test('elementAt returns the item at an index, and names an index that is out of range', () => {
  expect([0, 1].map((index) => elementAt([4, null], index))).toEqual([4, null])
  expect(elementAt(new Uint8Array([7]), 0)).toBe(7)
  expect(() => elementAt(['a'], 1)).toThrow('index 1 of 1 items')
  expect(() => elementAt('', -1)).toThrow(RangeError)
})
