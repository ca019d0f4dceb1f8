import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rowAtHeight, rowTops } from './row-window.ts'

test('row window: a height belongs to the row that covers it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
      fc.integer({ min: -20, max: 3000 }),
      (heights, at) => {
        const offsets = rowTops(heights.length, (row) => heights[row] as number)
        const row = rowAtHeight(offsets, at)
        if (at < 0) expect(row).toBe(0)
        else if (at >= (offsets.at(-1) as number)) expect(row).toBe(heights.length - 1)
        else expect((offsets[row] as number) <= at && at < (offsets[row + 1] as number)).toBe(true)
      },
    ),
  )
})

test('row window: an empty list has the height 0, and its first row is 0', () => {
  expect([...rowTops(0, () => 9)]).toEqual([0])
  expect(
    rowAtHeight(
      rowTops(0, () => 9),
      50,
    ),
  ).toBe(0)
})
