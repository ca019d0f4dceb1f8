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

/**
 * Returns what `countWhile` returns, for a test that holds for all indices before `from`. It takes few tests if the result is close to
 * `from`, and about twice as many as `countWhile` if it is distant.
 */
export function countWhileFrom(from: number, count: number, holds: (index: number) => boolean): number {
  let known = from
  let step = 1
  while (known + step <= count && holds(known + step - 1)) {
    known += step
    step *= 2
  }
  return known + countWhile(Math.min(step - 1, count - known), (ahead) => holds(known + ahead))
}
