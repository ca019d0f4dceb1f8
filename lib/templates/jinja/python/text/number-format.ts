/** Writes numbers for format specifications and printf conversions such as `,.2f`, `%05.1f` and `#x`. */
import { asDouble, bits, exponentText, floatRepr, type Int, intText, type Numeric, scaleFloat } from '../numbers.ts'
import { PyError, PyFloat, type Runtime } from '../values.ts'

/** How a float is written, without its sign. */
export interface FloatStyle {
  readonly type: 'e' | 'f' | 'g'
  readonly precision: number
  /** The flag `#`: a point even if nothing follows, and trailing zeros for g. */
  readonly alternate: boolean
  /** Whether `.0` follows a whole number, as in repr. */
  readonly pointZero: boolean
}

/** Number of decimals beyond which every double has only zeros. */
const EXACT_DECIMALS = 1100

/** Returns the digits of the absolute value; inf and nan are in lower case. */
export function floatDigits(value: number, style: FloatStyle, runtime: Runtime): string {
  const size = Math.abs(value)
  if (Number.isNaN(size)) return 'nan'
  if (!Number.isFinite(size)) return 'inf'
  runtime.allocate(style.precision + 400)
  if (style.type === 'f') return fixedDigits(size, style.precision, style.alternate)
  if (style.type === 'e') return exponential(size, style.precision, style.alternate)
  return general(size, style)
}

function fixedDigits(size: number, precision: number, alternate: boolean): string {
  const exact = Math.min(precision, EXACT_DECIMALS)
  const digits =
    scaleFloat(size, exact)
      .toString()
      .padStart(exact + 1, '0') + '0'.repeat(precision - exact)
  const point = digits.length - precision
  return withPoint(digits.slice(0, point), digits.slice(point), alternate)
}

function exponential(size: number, precision: number, alternate: boolean): string {
  const { digits, exponent } = significant(size, precision + 1)
  return `${withPoint(digits.charAt(0), digits.slice(1), alternate)}e${exponentText(exponent)}`
}

function general(size: number, { precision, alternate, pointZero }: FloatStyle): string {
  const count = precision === 0 ? 1 : precision
  const { digits, exponent } = significant(size, count)
  const shownDigits = alternate ? digits : digits.replace(/0+$/, '').padEnd(1, '0')
  if (exponent < -4 || exponent >= count - (pointZero ? 1 : 0)) {
    return `${withPoint(shownDigits.charAt(0), shownDigits.slice(1), alternate)}e${exponentText(exponent)}`
  }
  if (exponent < 0) return withPoint('0', '0'.repeat(-exponent - 1) + shownDigits, alternate)
  const whole = shownDigits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  const fraction = shownDigits.slice(exponent + 1)
  return withPoint(whole, pointZero && fraction === '' ? '0' : fraction, alternate)
}

const withPoint = (whole: string, fraction: string, alternate: boolean): string =>
  fraction === '' && !alternate ? whole : `${whole}.${fraction}`

/** Returns the first `count` significant digits, rounded half to even by the exact value, and the exponent of the first. */
function significant(size: number, count: number): { readonly digits: string; readonly exponent: number } {
  if (size === 0) return { digits: '0'.repeat(count), exponent: 0 }
  const exact = Math.min(count, EXACT_DECIMALS)
  let exponent = Number(size.toExponential().split('e')[1])
  let digits = scaleFloat(size, exact - 1 - exponent).toString()
  if (digits.length !== exact) {
    exponent += digits.length - exact
    digits = scaleFloat(size, exact - 1 - exponent).toString()
  }
  return { digits: digits + '0'.repeat(count - exact), exponent }
}

const INT_BASES = { b: 2, o: 8, x: 16, X: 16 } as const
/** Types of integers in format specifications. */
export type IntType = 'd' | keyof typeof INT_BASES

/** Returns the digits of the absolute value, without a prefix. */
export function intDigits(value: Int, type: IntType): string {
  if (type === 'd') return intText(value).replace('-', '')
  const text = value.toString(INT_BASES[type]).replace('-', '')
  return type === 'X' ? text.toUpperCase() : text
}

/** Returns the prefix of a type, such as `0x`; '' for d. */
export const intPrefix = (type: IntType): string => (type === 'd' ? '' : `0${type}`)

/** The part of a field between the colon and the brace: `{:*>+10,.2f}`. */
export interface FormatSpec {
  readonly fill: string
  /** Alignment; undefined for the default of the type, `>` for numbers and `<` for text. */
  readonly align: '<' | '>' | '=' | '^' | undefined
  readonly sign: '+' | '-' | ' ' | ''
  readonly noNegativeZero: boolean
  readonly alternate: boolean
  readonly width: number
  readonly grouping: ',' | '_' | ''
  readonly precision: number | undefined
  readonly type: string
}

/** Reads a format specification; `name` is the name of the type, for messages. Throws PyError (ValueError). */
export function readFormatSpec(spec: string, name: string, defaultAlign: '<' | '>'): FormatSpec {
  const characters = [...spec]
  let at = 0
  const take = (candidates: string): string => {
    const next = characters[at]
    if (next === undefined || !candidates.includes(next)) return ''
    at += 1
    return next
  }
  const number = (): number | undefined => {
    let digits = ''
    for (let next = take(DIGITS); next !== ''; next = take(DIGITS)) digits += next
    if (digits.replace(/^0+/, '').length > 18)
      throw new PyError('ValueError', 'Too many decimal digits in format string')
    return digits === '' ? undefined : Number(digits)
  }
  const filled = characters.length >= 2 && ALIGNS.includes(characters[1] ?? '')
  let fill = filled ? (characters[0] ?? ' ') : ' '
  if (filled) at = 1
  let align = take(ALIGNS)
  const sign = take('+- ')
  const noNegativeZero = take('z') !== ''
  const alternate = take('#') !== ''
  if (!filled && take('0') !== '') {
    fill = '0'
    if (align === '' && defaultAlign === '>') align = '='
  }
  const width = number() ?? 0
  let grouping = take(',')
  const underscore = take('_')
  if (grouping !== '' && underscore !== '') throw new PyError('ValueError', BOTH_GROUPINGS)
  grouping ||= underscore
  if (underscore !== '' && take(',') !== '') throw new PyError('ValueError', BOTH_GROUPINGS)
  let precision: number | undefined
  if (take('.') !== '') {
    precision = number()
    if (precision === undefined) throw new PyError('ValueError', 'Format specifier missing precision')
  }
  if (characters.length - at > 1) {
    throw new PyError('ValueError', `Invalid format specifier '${spec}' for object of type '${name}'`)
  }
  const type = characters[at] ?? ''
  refuseGrouping(grouping, type === '' && defaultAlign === '<' ? 's' : type)
  return {
    fill,
    align: align === '' ? undefined : (align as '<' | '>' | '=' | '^'),
    sign: sign as '+' | '-' | ' ' | '',
    noNegativeZero,
    alternate,
    width,
    grouping: grouping as ',' | '_' | '',
    precision,
    type,
  }
}

const DIGITS = '0123456789'
const ALIGNS = '<>=^'
const BOTH_GROUPINGS = "Cannot specify both ',' and '_'."

function refuseGrouping(grouping: string, type: string): void {
  if (grouping === '' || 'defgEG%F'.includes(type)) return
  if (grouping === '_' && 'boxX'.includes(type)) return
  throw new PyError('ValueError', `Cannot specify '${grouping}' with '${type}'.`)
}

/** Returns format(value, spec) of an int or float. `name` is the name of the type, for messages. */
export function formattedNumber(value: Numeric, spec: FormatSpec, name: string, runtime: Runtime): string {
  if (!(value instanceof PyFloat)) {
    if (spec.type === '' || 'bcdoxXn'.includes(spec.type)) return formattedInt(value, spec, runtime)
    if (!'eEfFgG%'.includes(spec.type)) throw unknownCode(spec.type, name)
    return formattedFloat(asDouble(value), spec, runtime)
  }
  if (spec.type !== '' && !'eEfFgGn%'.includes(spec.type)) throw unknownCode(spec.type, name)
  return formattedFloat(value.value, spec, runtime)
}

/** Returns the error for a format code that the type does not have. */
export const unknownCode = (type: string, name: string): PyError =>
  new PyError('ValueError', `Unknown format code '${type}' for object of type '${name}'`)

function formattedInt(value: Int, spec: FormatSpec, runtime: Runtime): string {
  const refuse = (what: string): never => {
    throw new PyError('ValueError', `${what} not allowed in integer format specifier`)
  }
  if (spec.precision !== undefined) refuse('Precision')
  if (spec.noNegativeZero) refuse('Negative zero coercion (z)')
  if (spec.type === 'c') return formattedCharacter(value, spec, runtime)
  const type = spec.type === '' || spec.type === 'n' ? 'd' : (spec.type as IntType)
  if (typeof value === 'bigint') runtime.allocate(bits(value))
  const prefix = spec.alternate ? intPrefix(type) : ''
  const sign = signOf(value < 0, spec.sign)
  const interval = type === 'd' ? 3 : 4
  return alignText(sign + prefix, intDigits(value, type), '', interval, spec, runtime)
}

function formattedCharacter(value: Int, spec: FormatSpec, runtime: Runtime): string {
  if (spec.sign !== '') throw new PyError('ValueError', "Sign not allowed with integer format specifier 'c'")
  if (spec.alternate) {
    throw new PyError('ValueError', "Alternate form (#) not allowed with integer format specifier 'c'")
  }
  if (value < 0 || value > 0x10ffff) throw new PyError('OverflowError', '%c arg not in range(0x110000)')
  return alignText('', String.fromCodePoint(Number(value)), '', 3, { ...spec, grouping: '' }, runtime)
}

function formattedFloat(value: number, spec: FormatSpec, runtime: Runtime): string {
  const percent = spec.type === '%'
  const type = percent ? 'f' : spec.type === '' || spec.type === 'n' ? 'g' : spec.type.toLowerCase()
  const digits =
    spec.type === '' && spec.precision === undefined
      ? shortest(value)
      : floatDigits(
          percent ? value * 100 : value,
          {
            type: type as 'e' | 'f' | 'g',
            precision: spec.precision ?? 6,
            alternate: spec.alternate,
            pointZero: spec.type === '',
          },
          runtime,
        )
  const isZero = !/[1-9a-df-z]/.test(digits.split('e')[0] ?? '')
  const negative = (value < 0 || Object.is(value, -0)) && !(spec.noNegativeZero && isZero)
  const cased = spec.type === 'E' || spec.type === 'F' || spec.type === 'G' ? digits.toUpperCase() : digits
  const [, whole = '', rest = ''] = /^(\d*)(.*)$/.exec(cased) ?? []
  return alignText(signOf(negative, spec.sign), whole, rest + (percent ? '%' : ''), 3, spec, runtime)
}

/** Returns the repr of the absolute value. */
const shortest = (value: number): string => floatRepr(Math.abs(value))

const signOf = (negative: boolean, sign: FormatSpec['sign']): string =>
  negative ? '-' : sign === '+' || sign === ' ' ? sign : ''

/** Aligns a number: `whole` is grouped and zero-filled, and `rest` (point, decimals, exponent) follows it. */
function alignText(
  lead: string,
  whole: string,
  rest: string,
  interval: number,
  spec: FormatSpec,
  runtime: Runtime,
): string {
  runtime.allocate(spec.width + whole.length)
  const align = spec.align ?? '>'
  const zeroFilled = spec.fill === '0' && align === '='
  const least = zeroFilled ? spec.width - lead.length - rest.length : 0
  const body = (spec.grouping === '' ? whole : groupDigits(whole, spec.grouping, interval, least)) + rest
  const padding = Math.max(0, spec.width - lead.length - [...body].length)
  return align === '=' ? lead + spec.fill.repeat(padding) + body : padText(lead + body, padding, spec.fill, align)
}

/** Returns the text with `padding` fill characters on the side that `align` leaves free. */
export function padText(text: string, padding: number, fill: string, align: '<' | '>' | '^' | '='): string {
  if (align === '<') return text + fill.repeat(padding)
  if (align === '^') return fill.repeat(Math.floor(padding / 2)) + text + fill.repeat(Math.ceil(padding / 2))
  return fill.repeat(padding) + text
}

/** Puts separators between groups, with zeros in front until there are `least` characters. */
function groupDigits(digits: string, separator: string, interval: number, least: number): string {
  const groups: string[] = []
  let end = digits.length
  let wanted = least
  if (digits === '') return digits
  for (;;) {
    const size = Math.min(interval, Math.max(end, wanted, 1))
    const start = Math.max(0, end - size)
    groups.unshift('0'.repeat(size - (end - start)) + digits.slice(start, end))
    end = start
    wanted -= size
    if (end <= 0 && wanted <= 0) return groups.join(separator)
    wanted -= 1
  }
}
