/** Operators and built-in functions of Python on values, such as `a + b`, `a in b`, str(a) and len(a). */

import { toList } from './iteration.ts'
import { escapedHtml, Markup, stringOf } from './markup.ts'
import {
  addNumbers,
  clampInt,
  divideNumbers,
  floorDivideNumbers,
  type Int,
  integer,
  moduloNumbers,
  multiplyNumbers,
  negateNumber,
  numeric,
  powerNumbers,
  subtractNumbers,
} from './numbers.ts'
import { Complex, DictView, PySet } from './objects.ts'
import { item } from './subscript.ts'
import { printf } from './text/printf.ts'
import { typeName } from './text/repr.ts'
import { PyError, PyFloat, type PyObject, PyTuple, type Runtime, Undefined, type Value } from './values.ts'

export { compareValues, contains, equals, truth } from './comparison.ts'
export { iterate, length } from './iteration.ts'
export { repr, str } from './text/repr.ts'

/** Returns a + b. Throws TypeError for operands that do not fit. */
export function add(a: Value, b: Value, runtime: Runtime): Value {
  if (typeof a === 'string' && typeof b === 'string') {
    runtime.allocate(a.length + b.length)
    return a + b
  }
  const [x, y] = [numeric(a), numeric(b)]
  if (x !== undefined && y !== undefined) return addNumbers(x, y)
  refuseUndefined(a, b)
  if (a instanceof Markup || b instanceof Markup) {
    const [left, right] = [htmlOf(a), htmlOf(b)]
    if (left !== undefined && right !== undefined) {
      runtime.allocate(left.length + right.length)
      return new Markup(left + right)
    }
  }
  if (a instanceof Markup) throw unsupportedError('+', a, b)
  if (Array.isArray(a) && Array.isArray(b)) {
    runtime.allocate(a.length + b.length)
    return [...a, ...b]
  }
  if (a instanceof PyTuple && b instanceof PyTuple) {
    runtime.allocate(a.items.length + b.items.length)
    return new PyTuple([...a.items, ...b.items])
  }
  const sequence =
    stringOf(a) !== undefined ? 'str' : Array.isArray(a) ? 'list' : a instanceof PyTuple ? 'tuple' : undefined
  if (sequence !== undefined) {
    throw new PyError('TypeError', `can only concatenate ${sequence} (not "${typeName(b)}") to ${sequence}`)
  }
  throw unsupportedError('+', a, b)
}

/** Returns a text as HTML, escaped unless it is markup; undefined for other values. */
const htmlOf = (value: Value): string | undefined =>
  value instanceof Markup ? value.html : typeof value === 'string' ? escapedHtml(value) : undefined

/** Returns a - b, of numbers or of the keys or items of a dict, which are sets. */
export function subtract(a: Value, b: Value, runtime: Runtime): Value {
  const set = setOf(a) ?? (setOf(b) && a)
  if (set !== undefined && !(a instanceof Undefined)) return difference(a, b, runtime)
  const [x, y] = operands('-', a, b)
  return subtractNumbers(x, y)
}

const setOf = (value: Value): PyObject | undefined =>
  value instanceof PySet || (value instanceof DictView && value.part !== 'values') ? value : undefined

function difference(a: Value, b: Value, runtime: Runtime): PySet {
  const left = new PySet(toList(a, runtime))
  const without = new PySet(toList(b, runtime))
  return new PySet([...left.iterate()].filter((item) => !without.contains(item)))
}

/** Returns a * b, of numbers or of a sequence and an int. */
export function multiply(a: Value, b: Value, runtime: Runtime): Value {
  const [x, y] = [numeric(a), numeric(b)]
  if (x !== undefined && y !== undefined) return multiplyNumbers(x, y, runtime)
  refuseUndefined(a, b)
  const [sequence, count] = isSequence(a) && !(b instanceof Markup) ? [a, b] : isSequence(b) ? [b, a] : [undefined, b]
  if (sequence === undefined) throw unsupportedError('*', a, b)
  const times = integer(count)
  if (times === undefined) {
    if (sequence instanceof Markup)
      throw new PyError('TypeError', `'${typeName(count)}' object cannot be interpreted as an integer`)
    throw new PyError('TypeError', `can't multiply sequence by non-int of type '${typeName(count)}'`)
  }
  return repeatSequence(sequence, times, runtime)
}

const isSequence = (value: Value): boolean =>
  stringOf(value) !== undefined || Array.isArray(value) || value instanceof PyTuple

function repeatSequence(sequence: Value, times: Int, runtime: Runtime): Value {
  if (times > 0x7fffffffffffffffn || times < -0x8000000000000000n) {
    throw new PyError('OverflowError', "cannot fit 'int' into an index-sized integer")
  }
  const count = Math.max(0, clampInt(times))
  const text = stringOf(sequence)
  if (text !== undefined) {
    const whole = text === '' ? '' : repeatedText(text, count, runtime)
    return sequence instanceof Markup ? new Markup(whole) : whole
  }
  const items = sequence instanceof PyTuple ? sequence.items : Array.isArray(sequence) ? sequence : []
  runtime.allocate(items.length * count)
  runtime.step(items.length * count)
  const all: Value[] = []
  if (items.length > 0) for (let turn = 0; turn < count; turn += 1) for (const item of items) all.push(item)
  return sequence instanceof PyTuple ? new PyTuple(all) : all
}

/** Repeats a text after charging it. */
function repeatedText(text: string, count: number, runtime: Runtime): string {
  runtime.allocate(text.length * count)
  return text.repeat(count)
}

/** Returns a / b. */
export function divide(a: Value, b: Value, _runtime: Runtime): Value {
  const [x, y] = operands('/', a, b)
  return divideNumbers(x, y)
}

/** Returns a // b. */
export function floorDivide(a: Value, b: Value, runtime: Runtime): Value {
  const [x, y] = operands('//', a, b)
  return floorDivideNumbers(x, y, runtime)
}

/** Returns a % b: the remainder of numbers, printf-style formatting of a str. */
export function modulo(a: Value, b: Value, runtime: Runtime): Value {
  const format = stringOf(a)
  if (format === undefined) {
    const [x, y] = operands('%', a, b)
    return moduloNumbers(x, y, runtime)
  }
  const markup = a instanceof Markup
  const text = printf(format, b, { markup, lookUp: (key) => item(b, key, runtime) }, runtime)
  return markup ? new Markup(text) : text
}

/** Returns a ** b, which is complex for a negative base and a fractional exponent. */
export function power(a: Value, b: Value, runtime: Runtime): Value {
  const [x, y] = operands('** or pow()', a, b)
  const [base, exponent] = [Number(x instanceof PyFloat ? x.value : x), Number(y instanceof PyFloat ? y.value : y)]
  if (base < 0 && Number.isFinite(base) && Number.isFinite(exponent) && !Number.isInteger(exponent)) {
    const [size, angle] = [(-base) ** exponent, Math.PI * exponent]
    return new Complex(size * Math.cos(angle), size * Math.sin(angle))
  }
  return powerNumbers(x, y, runtime)
}

/** Returns -value. */
export const negate = (value: Value): Value => negateNumber(operand('-', value))

/** Returns +value, which is an int for a bool. */
export function positive(value: Value): Value {
  return operand('+', value)
}

function operand(sign: '-' | '+', value: Value): ReturnType<typeof negateNumber> {
  const number = numeric(value)
  if (number !== undefined) return number
  refuseUndefined(value, value)
  throw new PyError('TypeError', `bad operand type for unary ${sign}: '${typeName(value)}'`)
}

type Numeric = ReturnType<typeof negateNumber>

function operands(sign: string, a: Value, b: Value): readonly [Numeric, Numeric] {
  const [x, y] = [numeric(a), numeric(b)]
  if (x !== undefined && y !== undefined) return [x, y]
  refuseUndefined(a, b)
  throw unsupportedError(sign, a, b)
}

function refuseUndefined(a: Value, b: Value): void {
  for (const side of [a, b]) if (side instanceof Undefined) throw new PyError(side.className, side.message)
}

const unsupportedError = (sign: string, a: Value, b: Value): PyError =>
  new PyError('TypeError', `unsupported operand type(s) for ${sign}: '${typeName(a)}' and '${typeName(b)}'`)
