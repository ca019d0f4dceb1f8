/** Filters of numbers. */
import { indexOf } from '../python/arguments.ts'
import { truth } from '../python/comparison.ts'
import { stringOf } from '../python/markup.ts'
import {
  asDouble,
  clampInt,
  type Int,
  integer,
  negateNumber,
  numeric,
  readFloat,
  readInt,
  roundedInt,
  roundFloat,
  truncateFloat,
} from '../python/numbers.ts'
import { divide, multiply, power } from '../python/operators.ts'
import { floatDigits } from '../python/text/number-format.ts'
import { repr, typeName } from '../python/text/repr.ts'
import { PyError, PyFloat, type Runtime, Undefined, type Value } from '../python/values.ts'
import { filter, type NamedFilter, oneValueFilter } from './filter.ts'

/** Implements `float(value)`. */
function floatOf(value: Value, runtime: Runtime): number {
  const text = stringOf(value)
  if (text !== undefined) {
    const read = readFloat(text)
    if (read === undefined)
      throw new PyError('ValueError', `could not convert string to float: ${repr(value, runtime)}`)
    return read
  }
  const number = numeric(value)
  if (number !== undefined) return asDouble(number)
  if (value instanceof Undefined) throw new PyError(value.className, value.message)
  throw new PyError('TypeError', `float() argument must be a string or a real number, not '${typeName(value)}'`)
}

/** Implements `int(value)`, or `int(value, base)` for text. */
function intOf(value: Value, base: Value, runtime: Runtime): Int {
  const text = stringOf(value)
  if (text !== undefined) {
    const radix = clampInt(indexOf(base))
    if (radix !== 0 && (radix < 2 || radix > 36))
      throw new PyError('ValueError', 'int() base must be >= 2 and <= 36, or 0')
    const read = readInt(text, radix)
    if (read !== undefined) return read
    throw new PyError('ValueError', `invalid literal for int() with base ${radix}: ${repr(value, runtime)}`)
  }
  const whole = integer(value)
  if (whole !== undefined) return whole
  if (value instanceof PyFloat) return truncateFloat(value.value)
  if (value instanceof Undefined) throw new PyError(value.className, value.message)
  throw new PyError(
    'TypeError',
    `int() argument must be a string, a bytes-like object or a real number, not '${typeName(value)}'`,
  )
}

/** Returns the result of `run`, or of `otherwise` if it raises one of the classes. */
function orElse<T>(run: () => T, classNames: readonly string[], otherwise: () => T): T {
  try {
    return run()
  } catch (error) {
    if (error instanceof PyError && classNames.includes(error.className)) return otherwise()
    throw error
  }
}

const UNREADABLE = ['TypeError', 'ValueError']

function absolute(value: Value): Value {
  const number = numeric(value)
  if (number === undefined) throw new PyError('TypeError', `bad operand type for abs(): '${typeName(value)}'`)
  if (number instanceof PyFloat) return new PyFloat(Math.abs(number.value))
  return number < 0 ? negateNumber(number) : number
}

function roundedNumber(value: Value, precision: Value, method: Value, runtime: Runtime): Value {
  const how = stringOf(method)
  if (how !== 'common' && how !== 'ceil' && how !== 'floor') {
    throw new PyError('FilterArgumentError', 'method must be common, ceil or floor')
  }
  if (how === 'common') return round(value, precision, runtime)
  const unit = power(10, precision, runtime)
  const scaledValue = numeric(multiply(value, unit, runtime))
  if (scaledValue === undefined) {
    throw new PyError('TypeError', `must be real number, not ${typeName(multiply(value, unit, runtime))}`)
  }
  const whole =
    scaledValue instanceof PyFloat
      ? truncateFloat(how === 'ceil' ? Math.ceil(scaledValue.value) : Math.floor(scaledValue.value))
      : scaledValue
  return divide(whole, unit, runtime)
}

/** Implements `round(value, precision)`. */
function round(value: Value, precision: Value, runtime: Runtime): Value {
  const number = numeric(value)
  if (number === undefined) {
    throw new PyError('TypeError', `type ${typeName(value)} doesn't define __round__ method`)
  }
  if (precision === null) return number instanceof PyFloat ? wholeOf(number.value) : number
  const digits = clampInt(indexOf(precision))
  return number instanceof PyFloat ? new PyFloat(roundFloat(number.value, digits)) : roundedInt(number, digits, runtime)
}

/** Rounds half to even. */
function wholeOf(value: number): Int {
  const floor = Math.floor(value)
  const rest = value - floor
  return truncateFloat(rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor)
}

function fileSize(value: Value, binary: boolean, runtime: Runtime): string {
  const bytes = floatOf(value, runtime)
  const base = binary ? 1024 : 1000
  if (bytes === 1) return '1 Byte'
  if (bytes < base) return `${truncateFloat(bytes)} Bytes`
  let unit = base
  let sizeText = ''
  for (const letter of 'kMGTPEZY') {
    unit *= base
    sizeText = binary ? `${letter.toUpperCase()}iB` : `${letter}B`
    if (bytes < unit) break
  }
  const style = { type: 'f', precision: 1, alternate: false, pointZero: false } as const
  return `${bytes < 0 ? '-' : ''}${floatDigits((base * bytes) / unit, style, runtime)} ${sizeText}`
}

/** The filters abs, int, float, round and filesizeformat. */
export const numberFilters: readonly NamedFilter[] = [
  ['abs', oneValueFilter('abs', absolute)],
  [
    'int',
    filter('do_int(value, default=, base=)', ([value = null, fallback = 0, base = 10], runtime) =>
      orElse<Value>(
        () => intOf(value, base, runtime),
        UNREADABLE,
        () =>
          orElse<Value>(
            () => truncateFloat(floatOf(value, runtime)),
            [...UNREADABLE, 'OverflowError'],
            () => fallback,
          ),
      ),
    ),
  ],
  [
    'float',
    filter('do_float(value, default=)', ([value = null, fallback = new PyFloat(0)], runtime) =>
      orElse<Value>(
        () => new PyFloat(floatOf(value, runtime)),
        UNREADABLE,
        () => fallback,
      ),
    ),
  ],
  [
    'round',
    filter('do_round(value, precision=, method=)', ([value = null, precision = 0, method = 'common'], runtime) =>
      roundedNumber(value, precision, method, runtime),
    ),
  ],
  [
    'filesizeformat',
    filter('do_filesizeformat(value, binary=)', ([value = null, binary = false], runtime) =>
      fileSize(value, truth(binary), runtime),
    ),
  ],
]
