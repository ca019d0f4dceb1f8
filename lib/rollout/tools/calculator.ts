/**
 * The calculator tool: `+ - * / % ** ^ × ÷ −`, signs, parentheses and decimals, exact over rationals, no eval.
 *
 *     expression := term (("+" | "-") term)*
 *     term       := signed (("*" | "/" | "%") signed)*
 *     signed     := ("+" | "-")* power
 *     power      := atom ("**" signed)?
 *     atom       := number | "(" expression ")"
 *
 * The built-in model is trained on a Python twin (models/training/calculator.py); the cases of calculator-cases.json there test
 * both. Syntax errors are found before any value is computed, and the first offending character is reported.
 */

import { Fraction } from 'fraction.js'
import { CALCULATOR_SPEC } from '#lib/tools/calculator-spec.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { AgentTool } from './tool.ts'

const MAX_CHARACTERS = 1000
const MAX_DEPTH = 100
const MAX_DIGITS = 1000
const SIGNIFICANT_DIGITS = 12

/** The calculator as a tool of an agent. */
export const calculator: AgentTool = {
  spec: CALCULATOR_SPEC,
  run: ({ expression }) => calculate(expression as string),
}

/** An error of the expression; the model reads its message. */
export class CalculatorError extends Error {
  override readonly name = 'CalculatorError'
}

const TOO_LARGE = 'the result is too large (more than 1,000 digits)'
const DIVISION_BY_ZERO = 'division by zero'

/** Returns the value as text: an integer in full, anything else to 12 significant digits. Throws CalculatorError. */
export function calculate(expression: string): string {
  if (expression.length > MAX_CHARACTERS)
    throw new CalculatorError('the expression is too long (more than 1,000 characters)')
  const reader: Reader = { text: expression, position: 0, depth: 0 }
  if (skipSpaceToEnd(reader)) throw new CalculatorError('the expression is empty')
  const value = readExpression(reader)
  if (!skipSpaceToEnd(reader)) throw unexpectedError(reader)
  return formatFraction(value())
}

interface Reader {
  readonly text: string
  position: number
  depth: number
}

/** A parsed expression; calling it computes its value. */
type Value = () => Fraction

type Operator = '+' | '-' | '*' | '/' | '%' | '**'

const readExpression = (reader: Reader): Value => readChain(reader, ['+', '-'], readTerm)
const readTerm = (reader: Reader): Value => readChain(reader, ['*', '/', '%'], readSigned)

/** Parses left-associative operators without nesting, because a thousand characters may have 500 operands. */
function readChain(reader: Reader, operators: readonly Operator[], operand: (reader: Reader) => Value): Value {
  const first = operand(reader)
  const rest: { readonly operator: Operator; readonly value: Value }[] = []
  for (let operator = takeOperator(reader, operators); operator; operator = takeOperator(reader, operators))
    rest.push({ operator, value: operand(reader) })
  return () => rest.reduce((left, { operator, value }) => apply(operator, left, value()), first())
}

/** Parses right-associative powers with signs: -2 ** -3 ** 2 is -(2 ** (-(3 ** 2))). */
function readSigned(reader: Reader): Value {
  const operands = [{ sign: readSign(reader), value: readAtom(reader) }]
  while (takeOperator(reader, ['**'])) operands.push({ sign: readSign(reader), value: readAtom(reader) })
  return () =>
    operands.reduceRight<Fraction | undefined>(
      (exponent, { sign, value }) => (exponent === undefined ? value() : power(value(), exponent)).mul(sign),
      undefined,
    ) as Fraction
}

function readSign(reader: Reader): 1 | -1 {
  let sign: 1 | -1 = 1
  for (let operator = takeOperator(reader, ['+', '-']); operator; operator = takeOperator(reader, ['+', '-']))
    if (operator === '-') sign = sign === 1 ? -1 : 1
  return sign
}

const NUMBER = /(\d+(?:\.\d+)?|\.\d+)(?:[eE]([+-]?\d+))?/y

function readAtom(reader: Reader): Value {
  if (skipSpaceToEnd(reader)) throw new CalculatorError('the expression ends too early')
  if (reader.text[reader.position] === '(') return readParenthesised(reader)
  NUMBER.lastIndex = reader.position
  const match = NUMBER.exec(reader.text)
  if (!match) throw unexpectedError(reader)
  reader.position = NUMBER.lastIndex
  return () => fractionOfNumber(elementAt(match, 1), Number(match[2] ?? 0))
}

function readParenthesised(reader: Reader): Value {
  reader.position++
  if (++reader.depth > MAX_DEPTH)
    throw new CalculatorError('the expression is nested too deeply (more than 100 parentheses)')
  const value = readExpression(reader)
  if (skipSpaceToEnd(reader)) throw new CalculatorError('missing ")"')
  if (reader.text[reader.position] !== ')') throw unexpectedError(reader)
  reader.position++
  reader.depth--
  return value
}

const SPELLINGS: Readonly<Record<string, Operator>> = { '×': '*', '÷': '/', '−': '-', '^': '**' }

/** Consumes the next operator if it is one of these. `**` is never read as two `*`. */
function takeOperator(reader: Reader, operators: readonly Operator[]): Operator | undefined {
  if (skipSpaceToEnd(reader)) return undefined
  const length = reader.text.startsWith('**', reader.position) ? 2 : 1
  const written = reader.text.slice(reader.position, reader.position + length)
  const operator = operators.find((candidate) => candidate === (SPELLINGS[written] ?? written))
  if (operator) reader.position += length
  return operator
}

/** Skips white space and returns whether the text ends there. */
function skipSpaceToEnd(reader: Reader): boolean {
  while (reader.position < reader.text.length && /\s/.test(reader.text.charAt(reader.position))) reader.position++
  return reader.position === reader.text.length
}

function unexpectedError({ text, position }: Reader): CalculatorError {
  const rest = text.slice(position)
  const offender = /^\p{L}+/u.exec(rest)?.[0] ?? String.fromCodePoint(rest.codePointAt(0) as number)
  // Positions count characters as a reader does: an emoji is one.
  return new CalculatorError(`unexpected "${offender}" at character ${Array.from(text.slice(0, position)).length + 1}`)
}

function fractionOfNumber(mantissa: string, exponent: number): Fraction {
  const value = new Fraction(mantissa)
  if (value.n === 0n) return value
  // Beyond four times the limit, no mantissa that fits into an expression can make the number small enough again.
  if (Math.abs(exponent) > 4 * MAX_DIGITS) throw new CalculatorError(TOO_LARGE)
  const scale = 10n ** BigInt(Math.abs(exponent))
  return checkSize(exponent < 0 ? value.div(scale) : value.mul(scale))
}

function apply(operator: Operator, left: Fraction, right: Fraction): Fraction {
  switch (operator) {
    case '+':
      return checkSize(left.add(right))
    case '-':
      return checkSize(left.sub(right))
    case '*':
      return checkSize(left.mul(right))
    case '/':
      return checkSize(divide(left, right))
    case '%':
      // The result has the sign of the divisor, as in Python.
      return checkSize(left.sub(right.mul(divide(left, right).floor())))
    case '**':
      return power(left, right)
  }
}

function divide(left: Fraction, right: Fraction): Fraction {
  if (right.n === 0n) throw new CalculatorError(DIVISION_BY_ZERO)
  return left.div(right)
}

/** A power with more bits is refused before it is computed: 2 ** 3330 has 1,003 digits. */
const MAX_BITS = 3330

function power(base: Fraction, exponent: Fraction): Fraction {
  const n = exponent.s * exponent.n
  if (base.n === 0n && n < 0n) throw new CalculatorError(DIVISION_BY_ZERO)
  if (exponent.d !== 1n) return fractionalPower(base, exponent)
  if (n === 0n) return new Fraction(1)
  if (base.n === 0n || base.equals(1)) return base
  if (base.equals(-1)) return new Fraction(n % 2n === 0n ? 1 : -1)
  const bits = BigInt(Math.max(bitLength(base.n), bitLength(base.d)) - 1)
  if (bits * exponent.n > BigInt(MAX_BITS)) throw new CalculatorError(TOO_LARGE)
  const [top, bottom] = [(base.s * base.n) ** exponent.n, base.d ** exponent.n]
  return checkSize(n > 0n ? new Fraction(top, bottom) : new Fraction(bottom, top))
}

function fractionalPower(base: Fraction, exponent: Fraction): Fraction {
  if (base.s < 0n) throw new CalculatorError('a negative number to a fractional power has no real value')
  const value = base.valueOf() ** exponent.valueOf()
  if (!Number.isFinite(value)) throw new CalculatorError(TOO_LARGE)
  return fractionOfDouble(value)
}

/** Returns the exact rational value of a double. */
function fractionOfDouble(value: number): Fraction {
  let exponent = 0n
  let scaled = value
  while (!Number.isInteger(scaled)) {
    scaled *= 2
    exponent++
  }
  return new Fraction(BigInt(scaled), 2n ** exponent)
}

function checkSize(value: Fraction): Fraction {
  const limit = 10n ** BigInt(MAX_DIGITS)
  if (value.n >= limit || value.d >= limit) throw new CalculatorError(TOO_LARGE)
  return value
}

const bitLength = (value: bigint): number => value.toString(2).length

function formatFraction(value: Fraction): string {
  const sign = value.s < 0n ? '-' : ''
  if (value.d === 1n) return `${sign}${value.n}`
  const { digits, exponent } = roundToSignificant(value.n, value.d)
  const isTiny = value.n * 1_000_000n < value.d
  const isHuge = value.n >= value.d * 10n ** 21n
  if (isTiny || isHuge) return `${sign}${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ''}e${exponent}`
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  const fraction = digits.slice(exponent + 1)
  return fraction === '' ? `${sign}${whole}` : `${sign}${whole}.${fraction}`
}

/** Returns n / d as digits and decimal exponent, d1.d2d3… × 10^exponent, rounded half to even on the exact value. */
function roundToSignificant(n: bigint, d: bigint): { readonly digits: string; readonly exponent: number } {
  let exponent = n.toString().length - d.toString().length
  if (!isAtLeastPowerOfTen(n, d, exponent)) exponent--
  const shift = SIGNIFICANT_DIGITS - 1 - exponent
  const [top, bottom] = shift >= 0 ? [n * 10n ** BigInt(shift), d] : [n, d * 10n ** BigInt(-shift)]
  let rounded = top / bottom
  const rest = 2n * (top % bottom)
  if (rest > bottom || (rest === bottom && rounded % 2n === 1n)) rounded++
  if (rounded === 10n ** BigInt(SIGNIFICANT_DIGITS)) {
    rounded /= 10n
    exponent++
  }
  return { digits: rounded.toString().replace(/0+$/, ''), exponent }
}

const isAtLeastPowerOfTen = (n: bigint, d: bigint, exponent: number): boolean =>
  exponent >= 0 ? n >= d * 10n ** BigInt(exponent) : n * 10n ** BigInt(-exponent) >= d
