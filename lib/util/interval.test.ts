import { expect, test } from 'vitest'
import { comparedWith, readNumber, readRange } from './interval.ts'

const interval = (low: number, high: number, without?: number) => ({ low, high, without })

test('readRange accepts a number, or two in either order', () => {
  expect(['3', '−3', '100-200', '-1..-3', '1e3'].map(readRange)).toEqual([
    interval(3, 3),
    interval(-3, -3),
    interval(100, 200),
    interval(-3, -1),
    interval(1000, 1000),
  ])
  expect(['', 'x', '1-x', '1..x', 'x..1'].map(readRange)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ])
})

test('comparedWith returns an interval that is open on one side', () => {
  const [least, most] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]
  expect((['<', '<=', '>', '>='] as const).map((sign) => comparedWith(sign, 2))).toEqual([
    interval(least, 2, 2),
    interval(least, 2),
    interval(2, most, 2),
    interval(2, most),
  ])
  expect(comparedWith('<', readNumber('two'))).toBeUndefined()
})
