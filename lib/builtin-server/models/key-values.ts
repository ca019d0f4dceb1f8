import { elementAt } from '#lib/util/element-at.ts'

/** Keys and values of token positions in the form of an ONNX graph, and their moves between sequences and batches. */

/** The keys and values of several sequences. */
export interface KeyValues {
  readonly rows: number
  /** Positions of each row. A shorter row is at the right, after padding. */
  readonly length: number
  /** One tensor for every cache input of the graph. */
  readonly tensors: readonly CacheTensor[]
}

/** One tensor of keys or values. */
export interface CacheTensor {
  /** Shape [rows, heads, length, head size]. */
  readonly dims: readonly number[]
  readonly data: CacheNumbers
}

/** Floats of 32 bits, or the bits of floats of 16; they are only moved here. */
export type CacheNumbers = Float32Array | Uint16Array

/** Returns zeros of the same number type. */
export const numbersLike = (numbers: CacheNumbers, length: number): CacheNumbers =>
  numbers instanceof Uint16Array ? new Uint16Array(length) : new Float32Array(length)

/** The last `length` positions of one row. */
export interface RowPositions {
  readonly keyValues: KeyValues
  readonly row: number
  readonly length: number
}

/**
 * Returns rows from any batches as one batch: a copy, unless they already are exactly that. `length` is at least that of the longest row,
 * which is the default.
 */
export function gatherRows(places: readonly RowPositions[], length = longest(places)): KeyValues {
  const [first] = places
  if (!first) throw new Error('a batch has at least one row')
  const isThere = places.every(({ keyValues, row }, index) => keyValues === first.keyValues && row === index)
  if (isThere && first.keyValues.rows === places.length && first.keyValues.length === length) return first.keyValues
  const tensors = first.keyValues.tensors.map((shape, index) => {
    const [, heads, , size] = shape.dims as Dims
    const joined = numbersLike(shape.data, places.length * heads * length * size)
    places.forEach((place, row) => {
      for (let head = 0; head < heads; head++) {
        const positions = positionsOf(place.keyValues, index, place.row, head)
        const own = positions.subarray((place.keyValues.length - place.length) * size)
        joined.set(own, ((row * heads + head + 1) * length - place.length) * size)
      }
    })
    return { dims: [places.length, heads, length, size], data: joined }
  })
  return { rows: places.length, length, tensors }
}

/** Returns the length of the longest row; 0 without rows. */
export const longest = (places: readonly Pick<RowPositions, 'length'>[]): number =>
  places.reduce((most, place) => Math.max(most, place.length), 0)

/**
 * Frees memory at once: every pass creates new keys and values, and a garbage collector that is late with the old ones makes passes over
 * 400 positions take twice as long. The values must not be read any more.
 */
export function release({ tensors, length }: KeyValues): void {
  if (length > 0) for (const { data } of tensors) (data.buffer as ArrayBuffer).transfer(0)
}

type Dims = readonly [rows: number, heads: number, length: number, size: number]

/** Returns one head of one row of a tensor, position after position. */
export function positionsOf({ tensors, length }: KeyValues, tensor: number, row: number, head: number): CacheNumbers {
  const { dims, data } = elementAt(tensors, tensor)
  const [, heads, , size] = dims as Dims
  const from = (row * heads + head) * length * size
  return data.subarray(from, from + length * size)
}
