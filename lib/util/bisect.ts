/**
 * Of indices 0 … count − 1 for which a test holds up to some place and from there on does not, how many it holds for: the
 * index of the first for which it fails.
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
