/** Returns the item at an index that must exist. Throws RangeError if it does not, which is a bug of the caller. */
export function elementAt<T>(items: ArrayLike<T>, index: number): T {
  const item = items[index]
  if (item === undefined) throw new RangeError(`index ${index} of ${items.length} items`)
  return item
}
