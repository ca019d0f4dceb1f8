/** An array of numbers with a fixed length. */
type Numbers = Float64Array | Int32Array | Uint16Array | Uint8Array

/**
 * Returns a copy with at least twice the length, and at least `length` entries; the new ones are zeros. Arrays that grow in this way are
 * copied in a time that is linear in their final length.
 */
export function enlarge<Values extends Numbers>(values: Values, length = 0): Values {
  const larger = new (values.constructor as new (length: number) => Values)(Math.max(length, 2 * values.length))
  larger.set(values)
  return larger
}
