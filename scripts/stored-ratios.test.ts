import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Figure } from '../bench/support/figures.ts'
import { compareWithStored, isAccepted, withFigures } from '../bench/support/stored-ratios.ts'

const figure = (value: number, more: Partial<Figure> = {}): Figure => ({
  bench: 'load',
  what: 'first token',
  value,
  unit: '×',
  ...more,
})
const lossesOf = (value: number, more?: Partial<Figure>) =>
  compareWithStored([figure(value, more)], { load: { 'first token': 2 } }).compared.filter((one) => !isAccepted(one))

describe('Figures compared with stored ones', () => {
  test('a figure that grew by less than a tenth is accepted, and one that grew by more is a loss', () => {
    expect(lossesOf(2.19)).toHaveLength(0)
    expect(lossesOf(1)).toHaveLength(0)
    expect(lossesOf(2.21)).toMatchObject([{ stored: 2, figure: { value: 2.21 } }])
  })

  test('a figure with a lower limit is worse when it shrinks', () => {
    expect(lossesOf(1.81, { limit: { atLeast: 1 } })).toHaveLength(0)
    expect(lossesOf(1.79, { limit: { atLeast: 1 } })).toHaveLength(1)
    expect(lossesOf(20, { limit: { atLeast: 1 } })).toHaveLength(0)
  })

  test('a figure that is not a number is a loss', () => {
    expect(lossesOf(Number.NaN)).toHaveLength(1)
  })

  test('a figure that was zero may not grow', () => {
    const compared = (value: number) => compareWithStored([figure(value)], { load: { 'first token': 0 } }).compared
    expect(compared(0).every(isAccepted)).toBe(true)
    expect(compared(1).every(isAccepted)).toBe(false)
  })

  test('milliseconds depend on the machine and are not compared', () => {
    expect(compareWithStored([figure(900, { unit: 'ms' })], {})).toEqual({ compared: [], added: [], missing: [] })
  })

  test('a new figure and one that is no longer reported are listed; benches that did not run are not', () => {
    const { added, missing } = compareWithStored([figure(1, { what: 'new' })], {
      load: { 'first token': 2 },
      other: { x: 1 },
    })
    expect(added).toMatchObject([{ what: 'new' }])
    expect(missing).toEqual(['load: first token'])
  })

  test('what was stored compares as equal, and other benches keep their values', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.double({ min: 1e-6, max: 1e6, noNaN: true })), (values) => {
        const figures = Object.entries(values).map(([what, value]) => figure(value, { what }))
        const stored = withFigures(figures, { other: { x: 1 } })
        expect(stored.other).toEqual({ x: 1 })
        const { compared, added, missing } = compareWithStored(figures, stored)
        expect({ added, missing }).toEqual({ added: [], missing: [] })
        expect(compared.every(isAccepted)).toBe(true)
        expect(compared).toHaveLength(figures.length)
      }),
    )
  })
})
