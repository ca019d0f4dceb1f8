import { int32At } from '#lib/util/element-at.ts'
import { enlarge } from '#lib/util/enlarge.ts'

// Ranges are flat pairs [start, end, start, end, …] of tokens, half-open and sorted. Sets have one byte for each token, 1 or 0.

/** Collects ranges. Pairs must be added in order; a pair that overlaps the last one extends it. */
export interface RangeWriter {
  add(start: number, end: number): void
  readonly count: () => number
  readonly written: () => Int32Array
}

/** Returns an empty writer. Its array doubles when it is full. */
export function rangeWriter(): RangeWriter {
  let pairs = new Int32Array(256)
  let length = 0
  return {
    add(start, end) {
      if (length > 0 && start < int32At(pairs, length - 1)) {
        pairs[length - 1] = Math.max(int32At(pairs, length - 1), end)
        return
      }
      if (length === pairs.length) pairs = enlarge(pairs)
      pairs[length++] = start
      pairs[length++] = end
    },
    count: () => length >> 1,
    written: () => pairs.slice(0, length),
  }
}

/** Ranges of no tokens. */
export const NO_RANGES = new Int32Array(0)

/** Returns the union of two lists of ranges. Ranges that share a token are joined. */
export function unitedRanges(a: Int32Array, b: Int32Array): Int32Array {
  if (a.length === 0) return b
  if (b.length === 0) return a
  const writer = rangeWriter()
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const isFromA = j >= b.length || (i < a.length && int32At(a, i) <= int32At(b, j))
    const from = isFromA ? a : b
    const at = isFromA ? i : j
    writer.add(int32At(from, at), int32At(from, at + 1))
    if (isFromA) i += 2
    else j += 2
  }
  return writer.written()
}

/** Returns the ranges that have a token in the set. */
export function rangesTouching(ranges: Int32Array, tokens: Uint8Array): Int32Array {
  const writer = rangeWriter()
  for (let i = 0; i < ranges.length; i += 2) {
    const end = int32At(ranges, i + 1)
    let token = int32At(ranges, i)
    while (token < end && tokens[token] === 0) token++
    if (token < end) writer.add(int32At(ranges, i), end)
  }
  return writer.written()
}

/** Returns the longest ranges whose tokens are all in the set. */
export function rangesOfSet(tokens: Uint8Array): Int32Array {
  const writer = rangeWriter()
  for (let start = tokens.indexOf(1); start >= 0; ) {
    const stop = tokens.indexOf(0, start)
    const end = stop < 0 ? tokens.length : stop
    writer.add(start, end)
    start = tokens.indexOf(1, end)
  }
  return writer.written()
}

/** Adds the tokens of ranges to a set, which is changed and returned. */
export function addRanges(tokens: Uint8Array, ranges: Int32Array): Uint8Array {
  for (let i = 0; i < ranges.length; i += 2) tokens.fill(1, ranges[i], ranges[i + 1])
  return tokens
}

/** Returns the number of tokens in ranges that do not overlap. */
export function countInRanges(ranges: Int32Array): number {
  let count = 0
  for (let i = 0; i < ranges.length; i += 2) count += int32At(ranges, i + 1) - int32At(ranges, i)
  return count
}
