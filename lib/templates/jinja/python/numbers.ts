/** Python's ints and floats: arithmetic, and conversion from and to text. */
import { decimalDigit, isAscii, strip } from './text/code-points.ts'
import { PyError, PyFloat, type Runtime, type Value } from './values.ts'

/** An int of Python: a number if it is a safe integer, else a bigint. */
export type Int = number | bigint
/** An int or a float. */
export type Numeric = Int | PyFloat

/** Returns the number of a value, where a bool is an int as in Python; undefined if it is not a number. */
export function numeric(value: Value): Numeric | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  if (typeof value === 'boolean') return value ? 1 : 0
  return value instanceof PyFloat ? value : undefined
}

/** Returns the int of an int or bool; undefined for other values. */
export function integer(value: Value): Int | undefined {
  if (typeof value === 'number' || typeof value === 'bigint') return value
  return typeof value === 'boolean' ? Number(value) : undefined
}

/** Returns an int as a number if it is safe, else as the bigint. */
export function asInt(value: bigint): Int {
  return value >= -MAX_SAFE && value <= MAX_SAFE ? Number(value) : value
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER)

/** Returns the nearest float. Throws OverflowError for an int beyond all floats. */
export function asDouble(value: Numeric): number {
  if (value instanceof PyFloat) return value.value
  const double = Number(value)
  if (Number.isFinite(double)) return double
  throw new PyError('OverflowError', 'int too large to convert to float')
}

/** Returns an int for a size or an index, limited to safe integers. */
export const clampInt = (value: Int): number =>
  typeof value === 'number' ? value : value < 0n ? -Number.MAX_SAFE_INTEGER : Number.MAX_SAFE_INTEGER

/** Returns a + b. */
export function addNumbers(a: Numeric, b: Numeric): Numeric {
  if (typeof a === 'number' && typeof b === 'number') {
    const sum = a + b
    return Number.isSafeInteger(sum) ? sum : BigInt(a) + BigInt(b)
  }
  return a instanceof PyFloat || b instanceof PyFloat
    ? new PyFloat(asDouble(a) + asDouble(b))
    : asInt(BigInt(a) + BigInt(b))
}

/** Returns a - b. */
export const subtractNumbers = (a: Numeric, b: Numeric): Numeric =>
  a instanceof PyFloat || b instanceof PyFloat ? new PyFloat(asDouble(a) - asDouble(b)) : addNumbers(a, negateNumber(b))

/** Returns a * b and charges large ints. */
export function multiplyNumbers(a: Numeric, b: Numeric, runtime: Runtime): Numeric {
  if (typeof a === 'number' && typeof b === 'number') {
    const product = a * b
    // Adding 0 removes the sign of -0, JavaScript's 0 * -1.
    return Number.isSafeInteger(product) ? product + 0 : BigInt(a) * BigInt(b)
  }
  if (a instanceof PyFloat || b instanceof PyFloat) return new PyFloat(asDouble(a) * asDouble(b))
  const [x, y] = [BigInt(a), BigInt(b)]
  chargeBits(bits(x) + bits(y), runtime)
  return asInt(x * y)
}

/** Returns a / b, correctly rounded for ints of any size. Throws ZeroDivisionError and OverflowError. */
export function divideNumbers(a: Numeric, b: Numeric): PyFloat {
  if (a instanceof PyFloat || b instanceof PyFloat) {
    const [x, y] = [asDouble(a), asDouble(b)]
    if (y === 0) throw new PyError('ZeroDivisionError', 'float division by zero')
    return new PyFloat(x / y)
  }
  if (b === 0) throw new PyError('ZeroDivisionError', 'division by zero')
  if (typeof a === 'number' && typeof b === 'number') return new PyFloat(a / b)
  const [x, y] = [BigInt(a), BigInt(b)]
  const quotient = ratio(x < 0n ? -x : x, y < 0n ? -y : y)
  if (!Number.isFinite(quotient)) throw new PyError('OverflowError', 'integer division result too large for a float')
  return new PyFloat(x < 0n === y < 0n ? quotient : -quotient)
}

/** Returns a / b as the nearest double; both are positive. 66 bits of quotient and a sticky bit decide the rounding. */
function ratio(a: bigint, b: bigint): number {
  const shift = 66 - (bits(a) - bits(b))
  const [top, bottom] = shift >= 0 ? [a << BigInt(shift), b] : [a, b << BigInt(-shift)]
  const quotient = top / bottom
  const sticky = top % bottom === 0n ? 0n : 1n
  return scaledByPowerOf2(Number((quotient << 1n) | sticky), -shift - 1)
}

/** Returns value * 2 ** exponent in two steps, because 2 ** exponent alone may overflow. */
const scaledByPowerOf2 = (value: number, exponent: number): number => {
  const half = Math.trunc(exponent / 2)
  return value * 2 ** half * 2 ** (exponent - half)
}

/** Returns a // b. Throws ZeroDivisionError. */
export function floorDivideNumbers(a: Numeric, b: Numeric, runtime: Runtime): Numeric {
  if (a instanceof PyFloat || b instanceof PyFloat) {
    const [x, y] = [asDouble(a), asDouble(b)]
    if (y === 0) throw new PyError('ZeroDivisionError', 'float floor division by zero')
    return new PyFloat(floorQuotient(x, y))
  }
  if (b === 0) throw new PyError('ZeroDivisionError', 'integer division or modulo by zero')
  if (typeof a === 'number' && typeof b === 'number') return floorOfSafe(a, b)
  const [x, y] = [BigInt(a), BigInt(b)]
  chargeBits(bits(x) + bits(y), runtime)
  const quotient = x / y
  return asInt(x % y !== 0n && x < 0n !== y < 0n ? quotient - 1n : quotient)
}

/** Returns a // b. Since a - a % b is no larger than a, every step is exact. */
function floorOfSafe(a: number, b: number): number {
  const rest = a % b
  return (a - rest) / b - (rest !== 0 && rest < 0 !== b < 0 ? 1 : 0) + 0
}

/** Returns a % b. Throws ZeroDivisionError. */
export function moduloNumbers(a: Numeric, b: Numeric, runtime: Runtime): Numeric {
  if (a instanceof PyFloat || b instanceof PyFloat) {
    const [x, y] = [asDouble(a), asDouble(b)]
    if (y === 0) throw new PyError('ZeroDivisionError', 'float modulo')
    return new PyFloat(floatModulo(x, y))
  }
  if (b === 0) throw new PyError('ZeroDivisionError', 'integer modulo by zero')
  if (typeof a === 'number' && typeof b === 'number') return floorModulo(a, b) + 0
  const [x, y] = [BigInt(a), BigInt(b)]
  chargeBits(bits(x) + bits(y), runtime)
  const rest = x % y
  return asInt(rest !== 0n && rest < 0n !== y < 0n ? rest + y : rest)
}

/** Returns the remainder with the sign of the divisor. */
function floorModulo(a: number, b: number): number {
  const rest = a % b
  return rest !== 0 && rest < 0 !== b < 0 ? rest + b : rest
}

function floatModulo(a: number, b: number): number {
  const rest = floorModulo(a, b)
  return rest === 0 ? copySign(0, b) : rest
}

/** Follows float_floor_div of CPython, including its correction of rounding. */
function floorQuotient(a: number, b: number): number {
  const rest = a % b
  let quotient = (a - rest) / b
  if (rest !== 0 && rest < 0 !== b < 0) quotient -= 1
  if (quotient === 0) return copySign(0, a / b)
  const floor = Math.floor(quotient)
  return quotient - floor > 0.5 ? floor + 1 : floor
}

const copySign = (size: number, sign: number): number => (sign < 0 || Object.is(sign, -0) ? -size : size)

/** Returns a ** b. A negative base needs a whole exponent, because its other powers are not floats. */
export function powerNumbers(a: Numeric, b: Numeric, runtime: Runtime): Numeric {
  if (a instanceof PyFloat || b instanceof PyFloat || b < 0) return floatPower(asDouble(a), asDouble(b))
  const [base, exponent] = [BigInt(a), BigInt(b)]
  // 0, 1 and -1 remain small however often they are multiplied.
  if (base < -1n || base > 1n) {
    const size = bits(base) * clampInt(b)
    chargeBits(size, runtime)
    return asInt(base ** exponent)
  }
  if (exponent === 0n) return 1
  return base === -1n && exponent % 2n === 0n ? 1 : asInt(base)
}

function floatPower(base: number, exponent: number): PyFloat {
  if (base === 0 && exponent < 0 && Number.isFinite(exponent)) {
    throw new PyError('ZeroDivisionError', '0.0 cannot be raised to a negative power')
  }
  // In Python, 1 ** nan and (±1) ** inf are 1; in JavaScript they are NaN.
  const power =
    base === 1 || (base === -1 && !Number.isFinite(exponent) && !Number.isNaN(exponent)) ? 1 : base ** exponent
  if (!Number.isFinite(power) && Number.isFinite(base) && Number.isFinite(exponent)) {
    throw new PyError('OverflowError', "(34, 'Numerical result out of range')")
  }
  return new PyFloat(power)
}

/** Returns -value. */
export function negateNumber(value: Numeric): Numeric {
  if (value instanceof PyFloat) return new PyFloat(-value.value)
  return typeof value === 'number' ? 0 - value : asInt(-value)
}

/** Returns a negative number, 0 or a positive number; NaN if an operand is NaN. Ints and floats compare by their exact values. */
export function order(a: Numeric, b: Numeric): number {
  const [x, y] = [a instanceof PyFloat ? a.value : a, b instanceof PyFloat ? b.value : b]
  return x < y ? -1 : x > y ? 1 : x >= y ? 0 : Number.NaN
}

/** Returns the number of bits of the absolute value. */
export const bits = (value: bigint): number => {
  const hex = (value < 0n ? -value : value).toString(16)
  return hex === '0' ? 0 : hex.length * 4 - Math.clz32(Number.parseInt(hex.charAt(0), 16)) + 28
}

/** Charges a big int as a text of its hexadecimal digits, and the time of its computation. */
function chargeBits(count: number, runtime: Runtime): void {
  runtime.allocate(Math.ceil(count / 4))
  runtime.step(Math.ceil((count / 2048) ** 1.6))
}

/** Returns repr(float): the shortest digits from which the same float is read. */
export function floatRepr(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf'
  const sign = value < 0 || Object.is(value, -0) ? '-' : ''
  const [mantissa = '', power = ''] = Math.abs(value).toExponential().split('e')
  const digits = mantissa.replace('.', '')
  const exponent = Number(power)
  if (exponent < -4 || exponent >= 16) {
    const fraction = digits.length > 1 ? `.${digits.slice(1)}` : ''
    return `${sign}${digits.charAt(0)}${fraction}e${exponentText(exponent)}`
  }
  if (exponent < 0) return `${sign}0.${'0'.repeat(-exponent - 1)}${digits}`
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, '0')
  return `${sign}${whole}.${digits.slice(exponent + 1) || '0'}`
}

/** Returns an exponent with its sign and at least two digits. */
export const exponentText = (exponent: number): string =>
  `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`

/** Most digits of an int that CPython writes or reads. */
const MAX_DIGITS = 4300
/** Number of bits of 10 ** 4300, the first int that is too long. */
const MAX_BITS = 14_285

/** Returns str(int). Throws ValueError for more than 4300 digits. */
export function intText(value: Int): string {
  if (typeof value === 'number') return String(value)
  if (bits(value) <= MAX_BITS) {
    const text = value.toString()
    if (text.length - (value < 0n ? 1 : 0) <= MAX_DIGITS) return text
  }
  throw new PyError('ValueError', `${TOO_MANY_DIGITS}; ${RAISE_LIMIT}`)
}

const TOO_MANY_DIGITS = `Exceeds the limit (${MAX_DIGITS} digits) for integer string conversion`
const RAISE_LIMIT = 'use sys.set_int_max_str_digits() to increase the limit'

/** Implements int(text, base); returns undefined if the text is not an int. Throws ValueError for more than 4300 digits. */
export function readInt(text: string, base: number): Int | undefined {
  const plain = asciiDigits(strip(text)).toLowerCase()
  const match = /^([+-]?)(0[box])?(_?[0-9a-z]+(?:_[0-9a-z]+)*)$/.exec(plain)
  if (!match) return undefined
  const [, sign = '', prefix = '', body = ''] = match
  const prefixBase = prefix === '0x' ? 16 : prefix === '0o' ? 8 : prefix === '0b' ? 2 : undefined
  // In base 16, `0b1` is a number whose prefix consists of digits.
  const prefixed = prefixBase !== undefined && (base === 0 || base === prefixBase)
  const digits = (prefixed ? body : prefix + body).replaceAll('_', '')
  if (!prefixed && (prefix + body).startsWith('_')) return undefined
  const radix = prefixed ? prefixBase : base === 0 ? 10 : base
  if (base === 0 && !prefixed && /^0+[1-9]/.test(digits)) return undefined
  for (const digit of digits) if (Number.parseInt(digit, 36) >= radix) return undefined
  if (digits.length > MAX_DIGITS && (radix & (radix - 1)) !== 0) {
    throw new PyError('ValueError', `${TOO_MANY_DIGITS}: value has ${digits.length} digits; ${RAISE_LIMIT}`)
  }
  const size = parsedDigits(digits, radix)
  return sign === '-' ? asInt(-size) : asInt(size)
}

function parsedDigits(digits: string, radix: number): bigint {
  if (radix === 10) return BigInt(digits)
  if (radix === 16) return BigInt(`0x${digits}`)
  if (radix === 8) return BigInt(`0o${digits}`)
  if (radix === 2) return BigInt(`0b${digits}`)
  let value = 0n
  for (const digit of digits) value = value * BigInt(radix) + BigInt(Number.parseInt(digit, 36))
  return value
}

/** Implements float(text); returns undefined if the text is not a float. */
export function readFloat(text: string): number | undefined {
  const plain = asciiDigits(strip(text)).toLowerCase()
  if (/^[+-]?(?:inf|infinity)$/.test(plain)) {
    return plain.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
  }
  if (/^[+-]?nan$/.test(plain)) return Number.NaN
  return FLOAT.test(plain) ? Number(plain.replaceAll('_', '')) : undefined
}

/** A decimal float. Each digit fits one place of the pattern only, so that a text is read once. */
const FLOAT = /^[+-]?(?:\d+(?:_\d+)*(?:\.(?:\d+(?:_\d+)*)?)?|\.\d+(?:_\d+)*)(?:e[+-]?\d+(?:_\d+)*)?$/

/** Returns a text with the decimal digits of every script, which Python reads, as ASCII digits. */
const asciiDigits = (text: string): string =>
  isAscii(text) ? text : text.replace(/\p{Nd}/gu, (digit) => String(decimalDigit(digit)))

/** Implements int(float). Throws ValueError for NaN, OverflowError for infinity. */
export function truncateFloat(value: number): Int {
  if (Number.isNaN(value)) throw new PyError('ValueError', 'cannot convert float NaN to integer')
  if (!Number.isFinite(value)) throw new PyError('OverflowError', 'cannot convert float infinity to integer')
  const whole = Math.trunc(value)
  return Number.isSafeInteger(whole) ? whole + 0 : BigInt(whole)
}

/** Implements round(float, digits), half to even by the exact value. */
export function roundFloat(value: number, digits: number): number {
  if (!Number.isFinite(value) || value === 0 || digits > 323) return value
  if (digits < -308) return copySign(0, value)
  const text = `${scaleFloat(Math.abs(value), digits)}e${-digits}`
  const result = Number(text)
  if (!Number.isFinite(result)) throw new PyError('OverflowError', 'rounded value too large to represent')
  return copySign(result, value)
}

/** Implements round(int, digits); only negative digits change the int. */
export function roundedInt(value: Int, digits: number, runtime: Runtime): Int {
  if (digits >= 0) return value
  const size = BigInt(value)
  if (-digits > bits(size)) return 0
  const unit = powerNumbers(10, -digits, runtime)
  const [negative, whole] = size < 0n ? [true, -size] : [false, size]
  const result = nearestQuotient(whole, BigInt(unit as Int)) * BigInt(unit as Int)
  return asInt(negative ? -result : result)
}

/** Returns the positive finite `value` times 10 ** digits, computed exactly and rounded half to even. */
export function scaleFloat(value: number, digits: number): bigint {
  const { mantissa, exponent } = binary(value)
  let top = mantissa
  let bottom = 1n
  if (exponent >= 0) top <<= BigInt(exponent)
  else bottom <<= BigInt(-exponent)
  if (digits >= 0) top *= 10n ** BigInt(digits)
  else bottom *= 10n ** BigInt(-digits)
  return nearestQuotient(top, bottom)
}

function nearestQuotient(top: bigint, bottom: bigint): bigint {
  const quotient = top / bottom
  const twice = (top % bottom) * 2n
  const up = twice > bottom || (twice === bottom && quotient % 2n === 1n)
  return up ? quotient + 1n : quotient
}

/** Returns the absolute value of a finite double as mantissa × 2 ** exponent. */
export function binary(value: number): { readonly mantissa: bigint; readonly exponent: number } {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, Math.abs(value))
  const word = view.getBigUint64(0)
  const fraction = word & 0xfffffffffffffn
  const power = Number(word >> 52n)
  return power === 0
    ? { mantissa: fraction, exponent: -1074 }
    : { mantissa: fraction | 0x10000000000000n, exponent: power - 1075 }
}
