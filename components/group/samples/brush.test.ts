import fc from 'fast-check'
import { expect, test } from 'vitest'
import { exampleGroup } from '../test-group.ts'
import { brushText, movedBrush, readBrush, sampleHistogram, samplesInBrush } from './brush.ts'

const { samples, rewards } = exampleGroup().forest

test('a histogram of rewards has ten bins over their range, with the mean and the samples without a reward', () => {
  const histogram = sampleHistogram(samples, 'reward', rewards?.range)
  expect(histogram?.bins.map(({ count }) => count)).toEqual([2, 0, 1, 0, 0, 1, 0, 0, 1, 3])
  expect([histogram?.low, histogram?.high, histogram?.mean, histogram?.unknown]).toEqual([0, 1, 0.575, 0])
  const unscored = samples.map(({ row }, index) => ({ row: { ...row, reward: index < 2 ? row.reward : null } }))
  expect(sampleHistogram(unscored, 'reward', rewards?.range)?.unknown).toBe(6)
})

test('a histogram of equal lengths has one bin, and one without values is absent', () => {
  const equal = samples.map(({ row }) => ({ row: { ...row, tokens: 7, reward: null } }))
  expect(sampleHistogram(equal, 'length', undefined)?.bins).toEqual([{ from: 7, to: 7, count: 8 }])
  expect(sampleHistogram(equal, 'reward', undefined)).toBeUndefined()
})

test('every value of a histogram is in one of its bins, for any rewards', () => {
  const reward = fc.double({ min: -1e6, max: 1e6, noNaN: true })
  fc.assert(
    fc.property(fc.array(reward, { minLength: 1, maxLength: 40 }), (values) => {
      const rows = values.map((reward) => ({ row: { ...(samples[0] as (typeof samples)[0]).row, reward } }))
      const histogram = sampleHistogram(rows, 'reward', undefined)
      expect(histogram?.bins.reduce((sum, { count }) => sum + count, 0)).toBe(values.length)
    }),
  )
})

test('a brush selects the samples between its ends, both included, and survives an address', () => {
  const brush = { by: 'reward', low: 0.5, high: 0.8 } as const
  expect([...(samplesInBrush(samples, brush) ?? [])]).toEqual([3, 5])
  expect(readBrush(brushText(brush))).toEqual(brush)
  expect(samplesInBrush(samples, undefined)).toBeUndefined()
  expect([...(samplesInBrush(samples, { by: 'length', low: 0, high: 8 }) ?? [])]).toEqual([7])
})

test.each([
  '',
  'reward',
  'reward:1',
  'reward:1:0',
  'size:0:1',
  'reward:a:1',
  'reward:0:1:2',
  'length:0:Infinity',
  'reward::1',
])('the text %j of an address is no brush', (text) => {
  expect(readBrush(text)).toBeUndefined()
})

test('the handles of a brush stop at each other and at the ends, where nothing is left out', () => {
  const histogram = { low: 0, high: 1 }
  const brush = { by: 'reward', low: 0.4, high: 0.6 } as const
  expect(movedBrush(histogram, brush, 'low', 0.9)).toEqual({ ...brush, low: 0.6 })
  expect(movedBrush(histogram, brush, 'high', 0.1)).toEqual({ ...brush, high: 0.4 })
  expect(movedBrush(histogram, { ...brush, high: 1 }, 'low', -3)).toBeUndefined()
  expect(movedBrush(histogram, brush, 'high', 7)).toEqual({ ...brush, high: 1 })
})
