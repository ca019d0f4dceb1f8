/**
 * Writes lib/share/reproduce/python-calculator.ts from models/training/calculator.py: the scripts that are copied from a page hold
 * that calculator. Run with --write; python-calculator.test.ts checks that it is current.
 */
import { readFileSync, writeFileSync } from 'node:fs'

export const PYTHON_CALCULATOR = 'lib/share/reproduce/python-calculator.ts'

export function pythonCalculator(): string {
  const source = readFileSync('models/training/calculator.py', 'utf8')
  // Without the head of the module: its docstring and imports.
  const code = source.slice(source.indexOf('\nMAX_CHARACTERS = ') + 1)
  return `/**
 * models/training/calculator.py, which is kept the same as lib/rollout/tools/calculator.ts. Written by
 * \`node scripts/checks/python-calculator.ts --write\`. Do not edit. It needs re, Callable and Fraction.
 */
export const CALCULATOR = \`${code.replace(/[\\`]|\$\{/g, '\\$&')}\`
`
}

if (process.argv.includes('--write')) writeFileSync(PYTHON_CALCULATOR, pythonCalculator())
