/** Compares totals and corrections with numpy’s (golden/make_ratios.py), and with a slow computation for any ratios. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { ratioOrder } from '../rescore/clipping.ts'
import {
  correctionEffect,
  DEFAULT_THRESHOLDS,
  readThresholds,
  type ThresholdName,
  thresholdBounds,
  thresholdsText,
  tokenFate,
  withThreshold,
} from './thresholds.ts'
import { klEstimates, ratioTotals } from './totals.ts'

const number = z.number()
const golden = z
  .object({
    cases: z.array(
      z.object({
        rollout: z.array(number),
        trainer: z.array(number),
        thresholds: z.object({ cap: number, low: number, high: number }),
        k1: number,
        k2: number,
        k3: number,
        mean: number,
        log_sum: number,
        geometric_mean: number,
        tis_capped: number,
        tis_weight_kept: number,
        icepop_dropped: number,
      }),
    ),
  })
  .parse(JSON.parse(readFileSync('lib/analysis/ratios/golden/ratios.json', 'utf8')))

const orderOf = (logRatios: Float64Array) =>
  ratioOrder({ count: logRatios.length, deltas: logRatios, trained: new Int32Array(logRatios.length).fill(1) })

test.each(golden.cases)('Totals and corrections equal those of numpy, case %#', (expected) => {
  const logRatios = Float64Array.from(expected.trainer, (value, index) => value - (expected.rollout[index] ?? NaN))
  const totals = ratioTotals(logRatios)
  expect(totals?.k1).toBeCloseTo(expected.k1, 12)
  expect(totals?.k2).toBeCloseTo(expected.k2, 12)
  expect(totals?.k3).toBeCloseTo(expected.k3, 12)
  expect(totals?.mean).toBeCloseTo(expected.mean, 12)
  expect(totals?.logSum).toBeCloseTo(expected.log_sum, 10)
  expect(totals?.geometricMean).toBeCloseTo(expected.geometric_mean, 12)
  const effect = correctionEffect(orderOf(logRatios), totals?.geometricMean ?? NaN, {
    ...DEFAULT_THRESHOLDS,
    ...expected.thresholds,
  })
  expect(effect.capped).toBe(expected.tis_capped)
  expect(effect.weightKept).toBeCloseTo(expected.tis_weight_kept, 12)
  expect(effect.dropped).toBe(expected.icepop_dropped)
})

const someRatios = fc.array(fc.double({ min: -4, max: 4, noNaN: true }), { minLength: 1, maxLength: 40 })

test('k3 is never negative, and the estimators of equal logprobs are 0', () => {
  fc.assert(
    fc.property(someRatios, (all) => {
      const estimates = klEstimates(Float64Array.from(all))
      expect(estimates?.k3).toBeGreaterThanOrEqual(0)
      expect(estimates?.k2).toBeGreaterThanOrEqual(0)
      expect(klEstimates(new Float64Array(all.length))).toEqual({ k1: 0, k2: 0, k3: 0 })
    }),
  )
  expect(klEstimates(new Float64Array())).toBeUndefined()
  expect(ratioTotals(new Float64Array())).toBeUndefined()
})

test('The effect of the corrections equals a count token by token', () => {
  const bound = (name: ThresholdName) => {
    const [min, max] = thresholdBounds(name)
    return fc.double({ min, max, noNaN: true })
  }
  fc.assert(
    fc.property(someRatios, bound('low'), bound('high'), bound('cap'), (all, low, high, cap) => {
      const thresholds = { ...DEFAULT_THRESHOLDS, low, high, cap }
      const effect = correctionEffect(orderOf(Float64Array.from(all)), 1, thresholds)
      const ratios = all.map(Math.exp)
      expect(effect.of).toBe(all.length)
      expect(effect.capped).toBe(all.filter((delta) => delta > Math.log(cap)).length)
      const isDropped = (delta: number) => delta < Math.log(low) || delta > Math.log(high)
      expect(effect.dropped).toBe(all.filter(isDropped).length)
      const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0)
      expect(effect.weightKept).toBeCloseTo(sum(ratios.map((ratio) => Math.min(ratio, cap))) / sum(ratios), 8)
      expect(all.map((delta) => tokenFate(delta, thresholds))).toEqual(
        all.map((delta) => (isDropped(delta) ? 'dropped' : delta > Math.log(cap) ? 'capped' : undefined)),
      )
    }),
  )
})

test('Sequence-level masking keeps a sample whose geometric mean is in the interval', () => {
  const kept = (geometricMean: number) =>
    correctionEffect(orderOf(new Float64Array(1)), geometricMean, DEFAULT_THRESHOLDS).isSampleKept
  expect([0.998, 0.999, 1, 1.001, 1.002].map(kept)).toEqual([false, true, true, true, false])
})

test('Thresholds of the address are read back, and impossible ones are the defaults', () => {
  const changed = withThreshold(withThreshold(DEFAULT_THRESHOLDS, 'low', 0.4), 'sequenceHigh', 1.00049)
  expect(changed).toEqual({ ...DEFAULT_THRESHOLDS, low: 0.4, sequenceHigh: 1.0005 })
  expect(thresholdsText(changed)).toBe('0.4,5,2,0.999,1.0005')
  expect(readThresholds(thresholdsText(changed))).toEqual(changed)
  expect(thresholdsText(DEFAULT_THRESHOLDS)).toBeUndefined()
  for (const text of [undefined, '', 'a,b', '2,5,2', '-1,0,NaN', '0.5,5,2,1.2,1.1'])
    expect(readThresholds(text)).toEqual(DEFAULT_THRESHOLDS)
  expect(readThresholds('0.3')).toEqual({ ...DEFAULT_THRESHOLDS, low: 0.3 })
  expect(withThreshold(DEFAULT_THRESHOLDS, 'high', 99).high).toBe(10)
  expect(withThreshold(DEFAULT_THRESHOLDS, 'low', 7).low).toBe(1)
})
