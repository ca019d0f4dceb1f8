/**
 * Accessors of items that must exist. Each throws RangeError for an index that is out of range, which is a bug of the caller.
 *
 * There is one for each kind of numbers, because V8 remembers for each function the kinds of lists that it has read. A function that reads
 * all kinds is twice as slow in a loop over typed arrays (bench/pages/inspector-find.ts).
 */

/** Returns the item of a list or the character of a text at an index. */
export function elementAt<T>(items: ArrayLike<T> & NotTypedArray, index: number): T {
  const item = items[index]
  if (item === undefined) throw outOfRange(items, index)
  return item
}

/** Returns the number at an index of signed 32-bit integers, such as token ids. */
export function int32At(items: Int32Array, index: number): number {
  const item = items[index]
  if (item === undefined) throw outOfRange(items, index)
  return item
}

/** Returns the number at an index of unsigned 32-bit integers. */
export function uint32At(items: Uint32Array, index: number): number {
  const item = items[index]
  if (item === undefined) throw outOfRange(items, index)
  return item
}

/** Returns the number at an index of bytes. */
export function uint8At(items: Uint8Array, index: number): number {
  const item = items[index]
  if (item === undefined) throw outOfRange(items, index)
  return item
}

/** Returns the number at an index of 32-bit floating-point numbers. */
export function float32At(items: Float32Array, index: number): number {
  const item = items[index]
  if (item === undefined) throw outOfRange(items, index)
  return item
}

/** Returns the number at an index of 64-bit floating-point numbers. */
export function float64At(items: Float64Array, index: number): number {
  const item = items[index]
  if (item === undefined) throw outOfRange(items, index)
  return item
}

/** What lists and texts are, and typed arrays are not. */
interface NotTypedArray {
  readonly BYTES_PER_ELEMENT?: never
}

const outOfRange = ({ length }: { readonly length: number }, index: number): RangeError =>
  new RangeError(`index ${index} of ${length} items`)
