/**
 * Returns the length of the common beginning of two id sequences. Ids and texts have separate functions, because
 * JavaScript engines run one loop over both types far slower.
 */
export function commonIds(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const most = Math.min(a.length, b.length)
  let count = 0
  while (count < most && a[count] === b[count]) count++
  return count
}

/** Characters that are compared at once, which is several times faster than one by one. */
const BLOCK = 4096

/** Returns the length of the common beginning of two texts in UTF-16 units. */
export function commonText(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let count = 0
  while (count + BLOCK <= most && a.slice(count, count + BLOCK) === b.slice(count, count + BLOCK)) count += BLOCK
  while (count < most && a.charCodeAt(count) === b.charCodeAt(count)) count++
  return count
}
