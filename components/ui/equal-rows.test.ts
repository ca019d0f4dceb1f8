import fc from 'fast-check'
import { expect, test } from 'vitest'
import { rowsInSight, type Scroller, scrolledHeight, scrollTopFor } from './equal-rows.ts'

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
      const { first, end, top } = rowsInSight(scroller, scrollTop, 3)
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
    const { first, end, top } = rowsInSight(scroller, scrollTop, 0)
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
