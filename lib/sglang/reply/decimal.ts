/**
 * Converts the digits of a JSON number to the nearest double, as JSON.parse does, without a text. Servers write logprobs that
 * they hold as float32, with up to 18 digits; such a number is recognized by exact arithmetic, and no other is guessed.
 */

/** The largest number of digits in each of the two parts that `decimalValue` reads. */
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
  // The nearest double is `value` if the difference is less than half the distance to the next one. Below a power of two that
  // distance is half of the one above. Each sum rounds to the neighbour if its second term is more than half the distance.
  const above = value + value * MORE_THAN_HALF - value
  const isPower = value - value * MORE_THAN_QUARTER !== value
  const half = (isPower ? 0.25 : 0.5) * above
  return Math.abs(difference) < half * power * NEARLY_ONE ? value : Number.NaN
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

/** A double times this is more than half of its distance to the next one, and less than one and a half. */
const MORE_THAN_HALF = 2 ** -53 + 2 ** -105
/** A power of two times this is more than half of its distance to the one before; any other float32 times this is less. */
const MORE_THAN_QUARTER = 2 ** -54 + 2 ** -106
