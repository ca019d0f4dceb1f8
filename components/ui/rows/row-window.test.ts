import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Scroller, scrolledHeight, scrollTopFor, visibleRowsOf } from './equal-rows.ts'
import { rowAtHeight, rowTops } from './row-window.tsx'

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

const scrollers: fc.Arbitrary<Scroller> = fc.record({
  count: fc.integer({ min: 1, max: 3_000_000 }),
  rowHeight: fc.constantFrom(20, 24),
  viewHeight: fc.integer({ min: 100, max: 1500 }),
})
const HEADER = 30

test('rows of one height: every row can be scrolled into view, and is drawn at its visible position', () => {
  fc.assert(
    fc.property(scrollers, fc.double({ min: 0, max: 1, noNaN: true }), (scroller, share) => {
      const row = Math.min(scroller.count - 1, Math.floor(share * scroller.count))
      const wanted = scrollTopFor(scroller, 0, row, HEADER) ?? 0
      // A browser limits the scroll position.
      const scrollTop = Math.min(wanted, Math.max(0, scrolledHeight(scroller) - scroller.viewHeight))
      const { first, end, top } = visibleRowsOf(scroller, scrollTop, 3)
      expect(first <= row && row < end).toBe(true)
      const seen = top + (row - first) * scroller.rowHeight - scrollTop
      expect(seen).toBeGreaterThan(-scroller.rowHeight)
      expect(seen).toBeLessThan(scroller.viewHeight)
      expect(end - first).toBeLessThan(scroller.viewHeight / scroller.rowHeight + 10)
    }),
  )
})

test('rows of one height: the last row is at the end of the scrolled element', () => {
  for (const count of [10, 100_000, 2_000_000]) {
    const scroller = { count, rowHeight: 24, viewHeight: 500 }
    const scrollTop = Math.max(0, scrolledHeight(scroller) - scroller.viewHeight)
    const { first, end, top } = visibleRowsOf(scroller, scrollTop, 0)
    expect(end).toBe(count)
    expect(top + (end - first) * 24).toBeCloseTo(scrolledHeight(scroller), 0)
  }
})

test('rows of one height: a visible row needs no scrolling', () => {
  const scroller = { count: 1000, rowHeight: 20, viewHeight: 400 }
  expect(scrollTopFor(scroller, 2000, 105, HEADER)).toBeUndefined()
  expect(scrollTopFor(scroller, 2000, 99, HEADER)).toBeLessThan(2000)
  expect(scrollTopFor(scroller, 2000, 119, HEADER)).toBeGreaterThan(2000)
})
