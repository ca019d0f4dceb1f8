import { expect, test } from 'vitest'
import { enlarge } from './enlarge.ts'

test('An enlarged array keeps its kind and its numbers, and has twice the length or more', () => {
  expect(enlarge(Float64Array.of(0.5, 2))).toEqual(Float64Array.of(0.5, 2, 0, 0))
  expect(enlarge(Uint8Array.of(7), 3)).toEqual(Uint8Array.of(7, 0, 0))
  expect(enlarge(new Int32Array(0), 1)).toEqual(Int32Array.of(0))
})
