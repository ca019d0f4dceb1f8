import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ClipRule, clipEffect, ratioOrder } from './clipping.ts'
import type { RescoredUnits } from './units.ts'

const unitsOf = (deltas: readonly number[], trained: readonly number[] = deltas.map(() => 1)): RescoredUnits => ({
  count: deltas.length,
  deltas: Float64Array.from(deltas),
  trained: Int32Array.from(trained),
  leftStarts: new Int32Array(deltas.length),
  leftEnds: new Int32Array(deltas.length),
  rightStarts: new Int32Array(deltas.length),
  rightEnds: new Int32Array(deltas.length),
  leftLogprobs: new Float64Array(deltas.length),
  rightLogprobs: new Float64Array(deltas.length),
  drifts: new Int32Array(deltas.length),
})
const effect = (ratios: readonly number[], rule: ClipRule, trained?: readonly number[]) =>
  clipEffect(ratioOrder(unitsOf(ratios.map(Math.log), trained)), rule)

test('truncation lowers ratios above the bound to the bound', () => {
  const { tokens, of, weightKept, above } = effect([1, 4, 0.5], { kind: 'truncate', high: 2 })
  expect([tokens, of, above]).toEqual([1, 3, { start: 2, end: 3 }])
  expect(weightKept).toBeCloseTo((1 + 2 + 0.5) / 5.5)
})

test('masking drops ratios outside of the bounds', () => {
  const { tokens, weightKept, below, above } = effect([1, 4, 0.1, 8], { kind: 'mask', low: 0.5, high: 5 })
  expect([tokens, below, above]).toEqual([2, { start: 0, end: 1 }, { start: 3, end: 4 }])
  expect(weightKept).toBeCloseTo(5 / 13.1)
})

test('a span counts as its trained tokens when clipped', () => {
  expect(effect([4, 1], { kind: 'truncate', high: 2 }, [3, 1])).toMatchObject({ tokens: 3, of: 4 })
})

test('a ratio of 1 is never clipped at 1, and nothing is kept of no tokens', () => {
  expect(effect([1, 1], { kind: 'truncate', high: 1 })).toMatchObject({ tokens: 0, weightKept: 1 })
  expect(effect([1, 1], { kind: 'mask', low: 1, high: 1 })).toMatchObject({ tokens: 0, weightKept: 1 })
  expect(effect([], { kind: 'truncate', high: 2 })).toMatchObject({ tokens: 0, of: 0, weightKept: 1 })
})

describe('every clipping preview', () => {
  const deltas = fc.array(fc.double({ min: -20, max: 20, noNaN: true }), { minLength: 1, maxLength: 40 })
  const bound = fc.double({ min: 0.01, max: 100, noNaN: true })

  test('equals the count token by token', () => {
    fc.assert(
      fc.property(deltas, bound, bound, (all, a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)]
        const ratios = all.map(Math.exp)
        const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
        const order = ratioOrder(unitsOf(all))
        const truncated = clipEffect(order, { kind: 'truncate', high })
        expect(truncated.tokens).toBe(all.filter((delta) => delta > Math.log(high)).length)
        expect(truncated.weightKept).toBeCloseTo(sum(ratios.map((ratio) => Math.min(ratio, high))) / sum(ratios), 8)
        const masked = clipEffect(order, { kind: 'mask', low, high })
        const isIn = (delta: number) => delta >= Math.log(low) && delta <= Math.log(high)
        expect(masked.tokens).toBe(all.filter((delta) => !isIn(delta)).length)
        expect(masked.weightKept).toBeCloseTo(sum(all.filter(isIn).map(Math.exp)) / sum(ratios), 8)
      }),
    )
  })

  test('clips less and keeps more with wider bounds', () => {
    fc.assert(
      fc.property(deltas, bound, bound, (all, a, b) => {
        const order = ratioOrder(unitsOf(all))
        const [narrow, wide] = [Math.min(a, b), Math.max(a, b)]
        for (const rule of [
          (high: number): ClipRule => ({ kind: 'truncate', high }),
          (high: number): ClipRule => ({ kind: 'mask', low: 0.005, high }),
        ]) {
          const [less, more] = [clipEffect(order, rule(narrow)), clipEffect(order, rule(wide))]
          expect(more.tokens).toBeLessThanOrEqual(less.tokens)
          expect(more.weightKept).toBeGreaterThanOrEqual(less.weightKept - 1e-12)
        }
      }),
    )
  })
})
