import { expect, test } from 'vitest'
import { elementAt, float32At, float64At, int32At, uint8At, uint32At } from './element-at.ts'

test('elementAt returns the item at an index, and names an index that is out of range', () => {
  expect([0, 1].map((index) => elementAt([4, null], index))).toEqual([4, null])
  expect(elementAt('ab', 1)).toBe('b')
  expect(() => elementAt(['a'], 1)).toThrow('index 1 of 1 items')
  expect(() => elementAt('', -1)).toThrow(RangeError)
})

test('the accessor of each typed array returns the number at an index, and names an index that is out of range', () => {
  const two = [7, 8]
  expect([
    int32At(Int32Array.from(two), 1),
    uint32At(Uint32Array.from(two), 1),
    uint8At(Uint8Array.from(two), 1),
    float32At(Float32Array.from(two), 1),
    float64At(Float64Array.from(two), 1),
  ]).toEqual([8, 8, 8, 8, 8])
  for (const read of [
    () => int32At(Int32Array.from(two), 2),
    () => uint32At(Uint32Array.from(two), 2),
    () => uint8At(Uint8Array.from(two), 2),
    () => float32At(Float32Array.from(two), 2),
    () => float64At(Float64Array.from(two), 2),
  ])
    expect(read).toThrow('index 2 of 2 items')
})
