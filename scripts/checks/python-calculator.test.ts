import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PYTHON_CALCULATOR, pythonCalculator } from './python-calculator.ts'

test('the calculator of scripts is the one that the model was trained on: node scripts/checks/python-calculator.ts --write', () => {
  expect(readFileSync(PYTHON_CALCULATOR, 'utf8')).toBe(pythonCalculator())
})
