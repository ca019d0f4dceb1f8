import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing/property-runs.ts'
import { CalculatorError, calculate } from './calculator.ts'

const outcome = (expression: string): string => {
  try {
    return calculate(expression)
  } catch (error) {
    if (error instanceof CalculatorError) return `Error: ${error.message}`
    throw error
  }
}

const cases: [string, string][] = JSON.parse(readFileSync('models/training/calculator-cases.json', 'utf8'))

test('the calculator cases of the Python twin exist', () => {
  expect(cases.length).toBeGreaterThanOrEqual(300)
})

test.each(cases)('calculate(%s) is %s', (expression, expected) => {
  expect(outcome(expression)).toBe(expected)
})

test('calculate gives the sums, differences and products of BigInt for integers', () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.bigInt(), fc.bigInt(), (a, b, c) => {
      expect(calculate(`(${a}) + (${b}) * (${c}) - (${b})`)).toBe(String(a + b * c - b))
    }),
  )
})

test('calculate gives a number for any text, or an error with its position', () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom('1', '0', '9', '.', '+', '-', '*', '/', '%', '^', '(', ')', ' ', 'e', 'x', '×', '🙂'),
      }),
      (text) => {
        expect(outcome(text)).toMatch(/^(-?\d+(\.\d+)?(e-?\d+)?|Error: .+)$/)
      },
    ),
    { numRuns: runs(2000) },
  )
})
