import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DIGITS_OF_PART, decimalValue } from './decimal.ts'

/** Returns the value of a decimal notation; undefined if it has too many digits. */
function valueOfNotation(text: string): number | undefined {
  const [, whole = '', fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/.exec(text) ?? []
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  if (digits.length > 2 * DIGITS_OF_PART) return undefined
  const low = digits.slice(DIGITS_OF_PART)
  const high = Number(digits.slice(0, DIGITS_OF_PART))
  return decimalValue(high, Number(low), low.length, fraction.length - Number(exponent))
}

const positive = { min: 1e-40, max: 1e6, noNaN: true }
const float32 = fc.float({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1000 })
const powerOfTwo = fc.integer({ min: -120, max: 10 }).map((exponent) => 2 ** exponent)

/** Returns the double that is some steps after another one. */
function stepped(value: number, steps: number): number {
  const double = new Float64Array([value])
  const bits = new BigInt64Array(double.buffer)
  bits[0] = (bits[0] ?? 0n) + BigInt(steps)
  return double[0] ?? 0
}

describe('decimalValue', () => {
  test('is the nearest double or unknown, for any number and for neighbours of float32', () => {
    const near = fc.tuple(fc.oneof(float32, powerOfTwo), fc.integer({ min: 0, max: 3 })).map((pair) => stepped(...pair))
    const text = fc.oneof(
      fc.double(positive).map(String),
      fc.tuple(near, fc.constantFrom(15, 16, 17, 18)).map(([value, digits]) => value.toPrecision(digits)),
      fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), fc.nat({ max: 45 })).map(([n, scale]) => `${n}e-${scale}`),
    )
    fc.assert(
      fc.property(text, (written) => {
        const value = valueOfNotation(written.replace('e+', 'e')) ?? Number.NaN
        if (!Number.isNaN(value)) expect(value).toBe(Number(written))
      }),
      { numRuns: 2000 },
    )
  })

  test('is known for nearly every float32 as Python writes it', () => {
    const values = Array.from({ length: 2000 }, (_, n) => Math.fround(8 * ((n + 0.5) / 2000) ** 6))
    expect(values.filter((value) => valueOfNotation(String(value)) === value).length).toBeGreaterThan(1950)
  })

  test.each([
    ['0', 0],
    ['7', 7],
    ['0.000', 0],
    ['0.1', 0.1],
    ['123456789012345678', Number.NaN],
    ['1e1', Number.NaN],
    ['1e-41', Number.NaN],
  ])('of %s is %d', (text, value) => {
    expect(valueOfNotation(text)).toBe(value)
  })
})
