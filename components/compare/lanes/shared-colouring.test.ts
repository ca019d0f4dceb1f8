import { expect, test } from 'vitest'
import { drawn } from '#lib/analysis/rescore/test-model.ts'
import { withColumn } from '#lib/trajectory/tokens/added-columns.ts'
import type { SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { sharedColouring } from './shared-colouring.ts'

const side = (...values: number[]): TrajectoryView =>
  withColumn(drawn('c a|b|c'), 'delta', Float64Array.of(Number.NaN, ...values))
const levels = (left: TrajectoryView, trajectory: TrajectoryView) => {
  const level = sharedColouring(left, trajectory, 'column:delta').levels(trajectory.segments[1] as SegmentView)
  return [0, 1, 2].map((offset) => level(offset))
}

test('the same number has the same colour on both sides, even if the other numbers of one side are much greater', () => {
  const [left, right] = [side(-1, 4, 0.5), side(0.5, 0.5, 0.5)]
  expect(levels(left, right)).toEqual(Array(3).fill(levels(left, left)[2]))
})

test('a side has its own colour scale if the other side has no numbers', () => {
  const [bare, right] = [drawn('c a|b|c'), side(1, 2, 3)]
  expect(levels(bare, right)).toEqual(levels(right, right))
})
