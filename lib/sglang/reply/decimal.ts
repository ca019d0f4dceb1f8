/**
 * Converts the digits of a JSON number to the nearest double, as JSON.parse does, without a text. Servers write logprobs that
 * they hold as float32, with up to 18 digits; such a number is recognized by exact arithmetic, and no other is guessed.
 */

/** The largest number of digits that `decimalValue` reads, without leading zeros. */
export const MOST_DIGITS = 18

/** The largest number of digits in each of its two parts. */
export const DIGITS_OF_PART = 9

/**
 * Returns the double nearest to digits × 10^-scale; NaN if it is not certain. The digits are those of `high`, and then
 * `lowCount` of `low`; each has at most DIGITS_OF_PART, and `low` is 0 unless `high` has all of its own.
 */
export function decimalValue(high: number, low: number, lowCount: number, scale: number): number {
  if (scale < 0 || scale > LARGEST_SCALE) return Number.NaN
  // Exact: high has 30 bits, and 10^lowCount has 21 bits besides its zeros.
  const shifted = high * (POWERS[lowCount] ?? 0)
  const power = POWERS[scale] ?? 0
  const digits = shifted + low
  // Both numbers are exact, so the division rounds once.
  if (digits <= Number.MAX_SAFE_INTEGER && scale <= LARGEST_EXACT_SCALE) return digits / power
  const value = Math.fround(digits / power)
  // The halves of a power of ten have at most 27 bits, so their products with the 24 bits of a float32 are exact. The first
  // difference is exact, because both numbers are nearly equal; the others are off by less than a thousandth.
  const high10 = HIGH_HALVES[scale] ?? 0
  const difference = shifted - value * high10 + (low - value * (LOW_HALVES[scale] ?? 0)) - value * (RESTS[scale] ?? 0)
  // The nearest double is `value` if the difference is less than half the distance to the next one, which is smaller below a
  // power of two.
  double[0] = value
  const high32 = bits[HIGH_WORD] ?? 0
  const isPower = (high32 & ~EXPONENT) === 0 && bits[1 - HIGH_WORD] === 0
  const exponent = (high32 & EXPONENT) - (isPower ? HALF_BELOW_POWER : HALF_DISTANCE)
  if (exponent <= 0) return Number.NaN
  bits[HIGH_WORD] = exponent
  bits[1 - HIGH_WORD] = 0
  const half = (double[0] ?? 0) * power
  return Math.abs(difference) < half * NEARLY_ONE ? value : Number.NaN
}

/** Every float32 that is not subnormal has its digits within this scale, unless they are more than 18. */
const LARGEST_SCALE = 40
/** 10^22 is the largest power of ten that is a double. */
const LARGEST_EXACT_SCALE = 22
const NEARLY_ONE = 0.999

const exactPowers = Array.from({ length: LARGEST_SCALE + 1 }, (_, scale) => 10n ** BigInt(scale))
/** Powers of ten: the nearest double, its two halves, and what the double lacks. */
const POWERS = Float64Array.from(exactPowers, Number)
const HIGH_HALVES = POWERS.map((power) => {
  // Dekker's split, with 2^27 + 1.
  const product = power * 134_217_729
  return product - (product - power)
})
const LOW_HALVES = POWERS.map((power, scale) => power - (HIGH_HALVES[scale] ?? 0))
const RESTS = Float64Array.from(exactPowers, (power, scale) => Number(power - BigInt(POWERS[scale] ?? 0)))

/** The bits of a double. */
const double = new Float64Array(1)
const bits = new Int32Array(double.buffer)
double[0] = -1
const HIGH_WORD = bits[1] === 0 ? 0 : 1
const EXPONENT = 0x7ff0_0000
/** In the bits of an exponent: a double divided by 2^53 is half of its distance to the next one, or less. */
const HALF_DISTANCE = 53 << 20
const HALF_BELOW_POWER = 54 << 20
