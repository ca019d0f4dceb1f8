/**
 * Returns the first index in 0 … count − 1 for which a monotonic test fails, or count; the test must hold for all
 * indices before it.
 */
export function countWhile(count: number, holds: (index: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) low = middle + 1
    else high = middle
  }
  return low
}
