import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  alternativeColumns,
  alternativesFrom,
  entropyAt,
  listedAlternatives,
  marginAt,
  rankAt,
  resizedAlternatives,
} from './alternatives.ts'

const ln = Math.log
const segment = {
  ids: [7, 8, 9, 5],
  topLogprobs: {
    k: 2,
    ids: [7, 1, 1, 8, 1, 2, -1, -1],
    logprobs: [ln(0.5), ln(0.25), ln(0.9), ln(0.1), ln(0.6), null, null, null],
  },
}

test('rankAt returns the position among the alternatives, and Infinity beyond them', () => {
  expect([0, 1, 2, 3].map((index) => rankAt(segment, index))).toEqual([1, 2, Number.POSITIVE_INFINITY, null])
  expect(rankAt({ ids: [1] }, 0)).toBeNull()
  expect(rankAt(segment, 4)).toBeNull()
})

test('marginAt needs two alternatives', () => {
  expect(marginAt(segment, 0)).toBeCloseTo(0.25)
  expect(marginAt(segment, 1)).toBeCloseTo(0.8)
  expect([2, 3].map((index) => marginAt(segment, index))).toEqual([null, null])
  expect(marginAt({ ids: [1] }, 0)).toBeNull()
  expect(marginAt({ ids: [1], topLogprobs: { k: 1, ids: [1], logprobs: [0] } }, 0)).toBeNull()
})

describe('entropyAt', () => {
  test('counts the probability outside of the alternatives as one more', () => {
    expect(entropyAt(segment, 0)).toBeCloseTo(1.5 * ln(2))
    expect(entropyAt(segment, 1)).toBeCloseTo(-0.9 * ln(0.9) - 0.1 * ln(0.1))
    expect(entropyAt(segment, 2)).toBeCloseTo(-0.6 * ln(0.6) - 0.4 * ln(0.4))
    expect(entropyAt(segment, 3)).toBeNull()
    expect(entropyAt({ ids: [1] }, 0)).toBeNull()
  })

  test('never exceeds the entropy of the whole distribution', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 3, maxLength: 12 }), (weights) => {
        const sum = weights.reduce((a, b) => a + b, 0)
        const logprobs = weights.map((weight) => ln(weight / sum)).sort((a, b) => b - a)
        const whole = logprobs.reduce((total, logprob) => total - Math.exp(logprob) * logprob, 0)
        const topLogprobs = { k: 3, ids: [0, 1, 2], logprobs: logprobs.slice(0, 3) }
        const entropy = entropyAt({ ids: [0], topLogprobs }, 0) as number
        expect(entropy).toBeGreaterThanOrEqual(0)
        expect(entropy).toBeLessThanOrEqual(whole + 1e-5)
      }),
    )
  })
})

test('resizedAlternatives keeps the first tokens, and gives none to tokens beyond the known ones', () => {
  const top = { k: 2, ids: [1, 2, 3, 4], logprobs: [-1, -2, -3, null] }
  expect(resizedAlternatives(top, 1)).toEqual({ k: 2, ids: [1, 2], logprobs: [-1, -2] })
  expect(resizedAlternatives(top, 2)).toEqual(top)
  expect(resizedAlternatives(top, 3)).toEqual({
    k: 2,
    ids: [1, 2, 3, 4, -1, -1],
    logprobs: [-1, -2, -3, null, null, null],
  })
})

describe('listedAlternatives', () => {
  const columns = { ids: Int32Array.of(1, 2, 3, -1), logprobs: Float64Array.of(-1, -2, -3, Number.NaN) }
  const lists = { k: 2, ids: [1, 2, 3, -1], logprobs: [-1, -2, -3, null] }

  test('are equal to lists, as JSON and as a copy too', () => {
    const top = listedAlternatives(2, columns.ids, columns.logprobs)
    expect(top).toEqual(lists)
    expect(JSON.parse(JSON.stringify(top))).toEqual(lists)
    expect(structuredClone(top)).toEqual(lists)
    expect({ ...top }).toEqual(lists)
  })

  test('make each list once, when it is first read', () => {
    const top = listedAlternatives(2, columns.ids, columns.logprobs)
    expect(top.ids).toBe(top.ids)
    expect(top.logprobs).toBe(top.logprobs)
    expect(Array.isArray(top.ids) && Array.isArray(top.logprobs)).toBe(true)
    expect(alternativeColumns(top)).toEqual(columns)
  })

  test('are cut at a token as lists are', () => {
    const top = listedAlternatives(2, columns.ids, columns.logprobs)
    expect(alternativesFrom(top, 1)).toEqual(alternativesFrom(lists, 1))
    expect(alternativesFrom(top, 1)).toEqual({ k: 2, ids: [3, -1], logprobs: [-3, null] })
    expect(alternativeColumns(alternativesFrom(top, 1))?.ids).toEqual(Int32Array.of(3, -1))
    expect(alternativeColumns(lists)).toBeUndefined()
  })
})
