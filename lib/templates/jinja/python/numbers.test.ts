import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  addNumbers,
  asInt,
  divideNumbers,
  floatRepr,
  floorDivideNumbers,
  type Int,
  intText,
  moduloNumbers,
  multiplyNumbers,
  order,
  readFloat,
  readInt,
  roundFloat,
  subtractNumbers,
} from './numbers.ts'
import { testRuntime } from './test-runtime.ts'
import { floatDigits } from './text/number-format.ts'
import { PyFloat } from './values.ts'

const int = fc
  .oneof(
    fc.maxSafeInteger(),
    fc.integer({ min: -20, max: 20 }),
    fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
    fc.constantFrom(2n ** 53n, 2n ** 53n - 1n, -(2n ** 53n), 2n ** 64n),
  )
  .map((value): Int => asInt(BigInt(value)))
const double = fc.double({ noNaN: true, noDefaultInfinity: true })

/** Whether an int is a number if it is safe, else a bigint, and never -0. */
const isNormal = (value: unknown): boolean =>
  typeof value === 'bigint' ? asInt(value) === value : Number.isSafeInteger(value) && !Object.is(value, -0)

describe('Python ints', () => {
  test('add, subtract and multiply without loss', () => {
    fc.assert(
      fc.property(int, int, (a, b) => {
        const results = [addNumbers(a, b), subtractNumbers(a, b), multiplyNumbers(a, b, testRuntime)]
        const [x, y] = [BigInt(a), BigInt(b)]
        expect(results.map((result) => BigInt(result as Int))).toEqual([x + y, x - y, x * y])
        expect(results.every(isNormal)).toBe(true)
      }),
    )
  })

  test('satisfy a = a // b * b + a % b, with a remainder that has the sign of b', () => {
    fc.assert(
      fc.property(int, int, (a, b) => {
        fc.pre(b !== 0)
        const [quotient, rest] = [floorDivideNumbers(a, b, testRuntime), moduloNumbers(a, b, testRuntime)] as [Int, Int]
        expect(BigInt(quotient) * BigInt(b) + BigInt(rest)).toBe(BigInt(a))
        expect(rest === 0 || rest < 0 === b < 0).toBe(true)
        expect([quotient, rest].every(isNormal)).toBe(true)
      }),
    )
  })

  test('divide to the nearest double', () => {
    fc.assert(
      fc.property(int, int, (a, b) => {
        fc.pre(b !== 0)
        const quotient = divideNumbers(a, b).value
        const distance = (value: number): bigint => {
          const scale = 2n ** 300n
          const gap = BigInt(value * 2 ** 200) * 2n ** 100n * BigInt(b) - BigInt(a) * scale
          return gap < 0n ? -gap : gap
        }
        const size = Math.abs(quotient)
        fc.pre(size > 1e-30)
        const step = 2 ** (Math.floor(Math.log2(size)) - 52)
        expect(distance(quotient) <= distance(quotient + step)).toBe(true)
        expect(distance(quotient) <= distance(quotient - step)).toBe(true)
      }),
    )
  })

  test('are read back from their text', () => {
    fc.assert(
      fc.property(int, (value) => {
        expect(readInt(intText(value), 10)).toBe(value)
      }),
    )
  })
})

describe('Python floats', () => {
  test('are read back from their repr', () => {
    fc.assert(
      fc.property(double, (value) => {
        expect(readFloat(floatRepr(value))).toBe(value)
      }),
    )
  })

  test('compare with ints by their exact values', () => {
    expect(order(2n ** 53n + 1n, new PyFloat(2 ** 53))).toBe(1)
    expect(order(1, new PyFloat(Number.NaN))).toBeNaN()
    fc.assert(
      fc.property(int, (value) => {
        const float = Number(value)
        const gap = BigInt(value) - BigInt(float)
        expect(order(value, new PyFloat(float))).toBe(gap < 0n ? -1 : gap > 0n ? 1 : 0)
      }),
    )
  })

  test('keep their value with all their decimals, and are rounded half to even', () => {
    const style = { type: 'f', precision: 20, alternate: false, pointZero: false } as const
    fc.assert(
      fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), fc.integer({ min: 0, max: 20 }), (whole, power) => {
        const value = whole / 2 ** power
        expect(Number(floatDigits(value, style, testRuntime))).toBe(Math.abs(value))
        expect(roundFloat(value, 20)).toBe(value)
      }),
    )
    expect([0.5, 1.5, 2.5, -0.5].map((value) => roundFloat(value, 0))).toEqual([0, 2, 2, -0])
  })
})
