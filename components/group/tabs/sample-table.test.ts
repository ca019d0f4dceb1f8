import { expect, test } from 'vitest'
import { sortedRows } from '#components/ui/table.tsx'

test('Unknown values of the table of samples are last in both directions, and equal ones stay in their order', () => {
  const rows = [null, 0.5, 1, 0.5, null].map((reward, sample) => ({ sample, reward }))
  const order = (direction: 'asc' | 'desc') =>
    sortedRows(rows, { by: 'reward', order: direction }, ({ reward }) => reward).map(({ sample }) => sample)
  expect(order('asc')).toEqual([1, 3, 2, 0, 4])
  expect(order('desc')).toEqual([2, 1, 3, 0, 4])
})
