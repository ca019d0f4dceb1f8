/** Implements `str % values`: printf-style formatting as in CPython's unicode_format. */

import { escapedHtml, Markup, stringOf } from '../markup.ts'
import { asDouble, clampInt, type Int, integer, numeric, truncateFloat } from '../numbers.ts'
import { PyDict, PyError, PyFloat, PyObject, PyTuple, type Runtime, Undefined, type Value } from '../values.ts'
import { ascii, codePointIndex, codePointLength, codePointSlice } from './code-points.ts'
import { floatDigits, type IntType, intDigits, intPrefix } from './number-format.ts'
import { repr, str, typeName } from './repr.ts'

/**
 * Returns `format % values`. `lookUp` returns `values[key]`. With `markup`, each text that is filled in is escaped, as Markup does. Throws
 * PyError.
 */
export function printf(
  format: string,
  values: Value,
  { markup, lookUp }: { readonly markup: boolean; readonly lookUp: (key: string) => Value },
  runtime: Runtime,
): string {
  const mapping = isMapping(values)
  let operands: readonly Value[] = values instanceof PyTuple ? values.items : [values]
  let used = 0
  const next = (): Value => {
    const value = operands[used]
    if (value === undefined) throw new PyError('TypeError', 'not enough arguments for format string')
    used += 1
    return value
  }
  let result = ''
  let at = 0
  for (let percent = format.indexOf('%'); percent >= 0; percent = format.indexOf('%', at)) {
    runtime.step()
    result += format.slice(at, percent)
    at = percent + 1
    if (format[at] === '%') {
      result += '%'
      at += 1
      continue
    }
    if (format[at] === '(') {
      if (!mapping) throw new PyError('TypeError', 'format requires a mapping')
      const end = closingParenthesis(format, at)
      operands = [lookUp(format.slice(at + 1, end))]
      used = 0
      at = end + 1
    }
    FLAGS.lastIndex = at
    const [whole = '', flags = '', width = '', precision] = FLAGS.exec(format) ?? []
    at += whole.length
    const wanted = width === '*' ? star(next()) : Number(width)
    const exact =
      precision === '*' ? Math.max(0, star(next())) : precision === undefined ? undefined : Number(precision)
    const type = String.fromCodePoint(format.codePointAt(at) ?? 0)
    if (at >= format.length) throw new PyError('ValueError', 'incomplete format')
    const conversion: Conversion = {
      left: flags.includes('-') || wanted < 0,
      sign: flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '',
      alternate: flags.includes('#'),
      zero: flags.includes('0'),
      width: Math.abs(wanted),
      precision: exact,
      type,
      markup,
    }
    const value = next()
    if (!TYPES.includes(type)) throw unknownType(type, codePointIndex(format, at))
    at += type.length
    const part = convertValue(value, conversion, runtime)
    runtime.allocate(part.length)
    result += part
  }
  if (!mapping && used < operands.length) {
    throw new PyError('TypeError', 'not all arguments converted during string formatting')
  }
  runtime.allocate(result.length + format.length - at)
  return result + format.slice(at)
}

interface Conversion {
  readonly left: boolean
  readonly sign: '+' | ' ' | ''
  readonly alternate: boolean
  readonly zero: boolean
  readonly width: number
  readonly precision: number | undefined
  readonly type: string
  readonly markup: boolean
}

/** Whether values count as a mapping: whatever can be subscripted and is neither str nor tuple does, lists too. */
const isMapping = (value: Value): boolean =>
  Array.isArray(value) ||
  value instanceof PyDict ||
  value instanceof Undefined ||
  (value instanceof PyObject && !(value instanceof Markup) && value.item !== undefined)

function closingParenthesis(format: string, open: number): number {
  let depth = 0
  for (let at = open; at < format.length; at += 1) {
    if (format[at] === '(') depth += 1
    else if (format[at] === ')') depth -= 1
    if (depth === 0) return at
  }
  throw new PyError('ValueError', 'incomplete format key')
}

const TYPES = 'sracdiuoxXeEfFgG'

/** Returns the error for an unknown conversion; `index` is in code points. */
const unknownType = (type: string, index: number): PyError => {
  const code = (type.codePointAt(0) ?? 0).toString(16)
  return new PyError('ValueError', `unsupported format character '${type}' (0x${code}) at index ${index}`)
}

/** Flags, width, precision and a length modifier of C; each may be missing. */
const FLAGS = /([-+ #0]*)(\*|\d*)(?:\.(\*|\d*))?[hlL]?/y

function star(value: Value): number {
  const width = integer(value)
  if (width === undefined) throw new PyError('TypeError', '* wants int')
  return clampInt(width)
}

function convertValue(value: Value, conversion: Conversion, runtime: Runtime): string {
  const { type } = conversion
  if ('sra'.includes(type)) return textual(value, conversion, runtime)
  if (type === 'c') return withWidth('', '', character(value), { ...conversion, zero: false }, runtime)
  if ('diuoxX'.includes(type)) return integral(wholeOf(value, type), conversion, runtime)
  return floating(value, conversion, runtime)
}

function textual(value: Value, conversion: Conversion, runtime: Runtime): string {
  const { type, precision, markup } = conversion
  const plain = type === 's' ? str(value, runtime) : type === 'r' ? repr(value, runtime) : ascii(repr(value, runtime))
  const text = markup && !(type === 's' && value instanceof Markup) ? escapedHtml(plain) : plain
  const cut = precision === undefined ? text : codePointSlice(text, 0, precision)
  return withWidth('', '', cut, { ...conversion, zero: false }, runtime)
}

function character(value: Value): string {
  const text = stringOf(value)
  if (text !== undefined && codePointLength(text) === 1) return text
  const code = integer(value)
  if (code === undefined) throw new PyError('TypeError', '%c requires int or char')
  if (code < 0 || code > 0x10ffff) throw new PyError('OverflowError', '%c arg not in range(0x110000)')
  return String.fromCodePoint(Number(code))
}

/** Returns the int of a value: d, i and u truncate a float, o and x accept ints only. */
function wholeOf(value: Value, type: string): Int {
  const whole = integer(value)
  if (whole !== undefined) return whole
  const anyNumber = 'diu'.includes(type)
  if (anyNumber && value instanceof PyFloat) return truncateFloat(value.value)
  if (anyNumber && value instanceof Undefined) throw new PyError(value.className, value.message)
  const wanted = anyNumber ? 'a real number' : 'an integer'
  throw new PyError('TypeError', `%${type} format: ${wanted} is required, not ${typeName(value)}`)
}

function integral(value: Int, conversion: Conversion, runtime: Runtime): string {
  const type = 'diu'.includes(conversion.type) ? 'd' : (conversion.type as IntType)
  runtime.allocate(conversion.precision ?? 0)
  const digits = intDigits(value, type).padStart(conversion.precision ?? 0, '0')
  const prefix = conversion.alternate ? intPrefix(type) : ''
  return withWidth(value < 0 ? '-' : conversion.sign, prefix, digits, conversion, runtime)
}

function floating(value: Value, conversion: Conversion, runtime: Runtime): string {
  if (value instanceof Undefined) throw new PyError(value.className, value.message)
  const number = numeric(value)
  if (number === undefined) throw new PyError('TypeError', `must be real number, not ${typeName(value)}`)
  const double = asDouble(number)
  const { type, precision = 6, alternate } = conversion
  const style = { type: type.toLowerCase() as 'e' | 'f' | 'g', precision, alternate, pointZero: false }
  const digits = floatDigits(double, style, runtime)
  const sign = double < 0 || Object.is(double, -0) ? '-' : conversion.sign
  return withWidth(sign, '', type === type.toUpperCase() ? digits.toUpperCase() : digits, conversion, runtime)
}

function withWidth(sign: string, prefix: string, body: string, conversion: Conversion, runtime: Runtime): string {
  const padding = Math.max(0, conversion.width - sign.length - prefix.length - codePointLength(body))
  runtime.allocate(padding)
  if (conversion.left) return sign + prefix + body + ' '.repeat(padding)
  return conversion.zero ? sign + prefix + '0'.repeat(padding) + body : ' '.repeat(padding) + sign + prefix + body
}
