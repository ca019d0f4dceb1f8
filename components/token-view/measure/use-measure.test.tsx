import { act, renderHook } from '@testing-library/react'
import { useRef } from 'react'
import { beforeEach, expect, test, vi } from 'vitest'
import { defineLayout } from '../test-layout.ts'
import { useMeasure } from './use-measure.ts'

/** The characters of a text are 0.6 times as wide as its font, because the canvas of the tests measures nothing. */
const CELL = 0.6
/** Calls of these report the size of an observed view, as a browser does after the layout. */
let report: (() => void)[]

beforeEach(() => {
  report = []
  vi.stubGlobal(
    'ResizeObserver',
    class {
      readonly #onResize: () => void
      constructor(onResize: () => void) {
        this.#onResize = onResize
      }
      observe() {
        report.push(this.#onResize)
      }
      disconnect() {}
    },
  )
})

/** Shows a view and returns the number of columns after its first render, and now. */
function show(width: number, { fontSize, isSmall }: { readonly fontSize: number; readonly isSmall: boolean }) {
  defineLayout({ width, height: 100 })
  const rendered: (number | undefined)[] = []
  renderHook(() => {
    const element = useRef(document.createElement('div'))
    rendered.push(useMeasure(element, element, fontSize, isSmall)?.columns)
  })
  return { first: rendered[0], now: () => rendered.at(-1) }
}
const reportSizes = () =>
  act(() => {
    for (const one of report) one()
  })
const columnsIn = (width: number, fontSize: number) => Math.floor(width / (CELL * fontSize)) - 1

test('A small view is drawn at once with the measures that a view took last, if its font has the same size', () => {
  const view = show(600, { fontSize: 10, isSmall: true })
  expect(view.first).toBeUndefined()
  reportSizes()
  expect(view.now()).toBe(columnsIn(600, 10))
  expect(show(600, { fontSize: 10, isSmall: true }).first).toBe(columnsIn(600, 10))
  expect(show(600, { fontSize: 10, isSmall: false }).first).toBeUndefined()
  expect(show(600, { fontSize: 12, isSmall: true }).first).toBeUndefined()
})

test('A view of another width is measured before it is painted', () => {
  show(600, { fontSize: 11, isSmall: true })
  reportSizes()
  const view = show(300, { fontSize: 11, isSmall: true })
  expect([view.first, view.now()]).toEqual([columnsIn(600, 11), columnsIn(300, 11)])
})

test('After the window has become wider, a view waits for its first measurement', () => {
  show(600, { fontSize: 13, isSmall: true })
  reportSizes()
  vi.spyOn(window, 'innerWidth', 'get').mockReturnValue(window.innerWidth + 1)
  expect(show(600, { fontSize: 13, isSmall: true }).first).toBeUndefined()
})
