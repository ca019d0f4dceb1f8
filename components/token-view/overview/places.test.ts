import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { rowOverlay } from '../grid/row-overlay.ts'
import { createScrollSpace, scrollScale, TALLEST } from '../grid/scroll-space.ts'
import { firstRangeAfter, firstRangeStartingAt } from '../token-marks.ts'

describe('scroll space', () => {
  /** Returns a scroll bar like that of a browser: whole pixels between 0 and the end. */
  const viewOf = (clientHeight: number, height: number) => {
    let at = 0
    return {
      clientHeight,
      get scrollTop() {
        return at
      },
      set scrollTop(top: number) {
        at = Math.round(Math.max(0, Math.min(top, Math.min(height, TALLEST) - clientHeight)))
      },
    }
  }

  test('equals the layout up to the height that browsers can draw', () => {
    const view = viewOf(900, 50_000)
    const space = createScrollSpace(view)
    expect(space.setHeight(50_000)).toBe(50_000)
    space.scrollTo(1234)
    expect([view.scrollTop, space.top(), space.shift(), space.isScaled()]).toEqual([1234, 1234, 0, false])
    view.scrollTop = 77
    expect([space.top(), space.isOwnMove()]).toEqual([77, false])
  })

  test('of a taller layout is scaled, and every position of the layout can be reached exactly', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: TALLEST + 1, max: 400_000_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (height, share) => {
          const view = viewOf(900, height)
          const space = createScrollSpace(view)
          expect(space.setHeight(height)).toBe(TALLEST)
          const wanted = share * (height - 900)
          space.scrollTo(wanted)
          expect(space.top()).toBe(wanted)
          expect(space.isOwnMove()).toBe(true)
          // The position of the drawn layout in the window agrees with that of the bar.
          expect(view.scrollTop - space.shift()).toBeCloseTo(wanted, 3)
          view.scrollTop = TALLEST
          expect(space.top()).toBeCloseTo(height - 900, 3)
        },
      ),
    )
  })

  test('on paper begins at the top of the layout and ends at most after 50,000 pixels, and then is where it was', () => {
    const view = viewOf(900, 300_000_000)
    const space = createScrollSpace(view)
    space.setHeight(300_000_000)
    space.scrollTo(1_000_000)
    space.print(true)
    expect([space.setHeight(2_000), space.viewHeight(), space.isCut()]).toEqual([2_000, 2_000, false])
    expect([space.setHeight(300_000_000), space.viewHeight()]).toEqual([50_000, 50_000])
    expect([space.top(), space.shift(), space.isCut()]).toEqual([0, 0, true])
    space.print(false)
    expect([space.top(), space.viewHeight(), space.isCut()]).toEqual([1_000_000, 900, false])
  })

  test('moves by single pixels for the wheel where it is scaled', () => {
    const view = viewOf(900, 300_000_000)
    const space = createScrollSpace(view)
    space.setHeight(300_000_000)
    space.scrollTo(1_000_000)
    for (let step = 0; step < 10; step++) space.scrollTo(space.top() + 3)
    expect(space.top()).toBe(1_000_030)
    expect(scrollScale(300_000_000, 900)).toBeGreaterThan(19)
  })
})

describe('overlay of a row', () => {
  const whole = { from: 8, to: 40, begins: true, ends: true }

  test('is empty if nothing is marked', () => {
    expect(rowOverlay([], 24).backgroundImage).toBe('')
  })

  test('closes an outline where the marked range begins and ends', () => {
    const sides = (mark: typeof whole) =>
      rowOverlay([{ ...mark, kind: 'hit' }], 24)
        .backgroundImage.split('linear-gradient')
        .at(-1)
    expect(sides(whole)).toContain('var(--mark-hit) 8px 9px, transparent 9px 39px, var(--mark-hit) 39px 40px')
    expect(sides({ ...whole, begins: false })).not.toContain(' 8px 9px')
    expect(rowOverlay([{ ...whole, kind: 'hit', begins: false, ends: false }], 24).backgroundSize).toBe(
      '100% 1px, 100% 1px',
    )
  })

  test('frames the selection around heat and underline without covering them', () => {
    const { backgroundImage, backgroundPosition, backgroundSize } = rowOverlay([{ ...whole, kind: 'selected' }], 24)
    expect(backgroundImage).not.toContain('color-mix')
    // Heat covers the pixels 2 to 20 of the row, and the underline begins at pixel 22.
    expect(backgroundPosition).toBe('0 0, 0 21px, 0 0')
    expect(backgroundSize).toBe('100% 2px, 100% 1px, 100% 21px')
    expect(backgroundImage).toContain('var(--selected) 8px 10px, transparent 10px 38px, var(--selected) 38px 40px')
  })

  test('draws the kinds of marks in one order', () => {
    const { backgroundImage } = rowOverlay(
      (['linked', 'selected', 'drift', 'hit', 'current', 'edge', 'cut'] as const).map((kind) => ({ ...whole, kind })),
      24,
    )
    const order = ['--mark-cut', '--trained', '--mark-current', '--mark-hit', '--bad', '--selected', '--mark-linked']
    const places = order.map((name) => backgroundImage.indexOf(name))
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(places).not.toContain(-1)
  })

  test('draws a cut as one line before its token, and brackets with arms', () => {
    expect(rowOverlay([{ ...whole, kind: 'cut' }], 24)).toEqual({
      backgroundImage: 'linear-gradient(90deg, transparent 0px 7px, var(--mark-cut) 7px 9px, transparent 9px)',
      backgroundSize: '100% 24px',
      backgroundPosition: '0 0px',
    })
    expect(rowOverlay([{ ...whole, kind: 'edge' }], 24).backgroundImage).toContain(
      'var(--trained) 8px 13px, transparent 13px 35px',
    )
    expect(rowOverlay([{ ...whole, to: 12, kind: 'edge' }], 24).backgroundImage).not.toContain('NaN')
  })
})

test('ranges of marks are found for a range of tokens by binary search', () => {
  const lists = fc.array(fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 4 })), { maxLength: 20 })
  fc.assert(
    fc.property(lists, fc.nat(120), fc.integer({ min: 1, max: 40 }), (gaps, start, length) => {
      let at = 0
      const ranges = gaps.map(([gap, size]) => {
        at += gap + size
        return [at - size, at] as const
      })
      const flat = Int32Array.from(ranges.flat())
      const end = start + length
      const within = ranges.filter(([from, to]) => from < end && to > start)
      expect(ranges.slice(firstRangeAfter(flat, start), firstRangeStartingAt(flat, end))).toEqual(within)
    }),
  )
})
