/** Returns the mean of numbers; at least one is needed. Rounding never moves the mean of equal numbers away from them. */
export function meanOf(values: readonly number[]): number {
  let sum = 0
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    sum += value
    least = Math.min(least, value)
    greatest = Math.max(greatest, value)
  }
  return Math.min(Math.max(sum / values.length, least), greatest)
}
