import { elementAt } from '#lib/util/element-at.ts'

/** Flat pairs [start, end, start, end, …] of tokens, half-open and sorted; and sets of tokens as one byte for each. */

/** Pairs are added in order; one that shares a token with the last goes on with it. */
export interface RangeWriter {
  add(start: number, end: number): void
  readonly count: () => number
  readonly written: () => Int32Array
}

export function rangeWriter(): RangeWriter {
  let pairs = new Int32Array(256)
  let length = 0
  return {
    add(start, end) {
      if (length > 0 && start < elementAt(pairs, length - 1)) {
        pairs[length - 1] = Math.max(elementAt(pairs, length - 1), end)
        return
      }
      if (length === pairs.length) {
        const longer = new Int32Array(2 * length)
        longer.set(pairs)
        pairs = longer
      }
      pairs[length++] = start
      pairs[length++] = end
    },
    count: () => length >> 1,
    written: () => pairs.slice(0, length),
  }
}

export const NO_RANGES = new Int32Array(0)

/** All of both; those that share a token become one. */
export function unitedRanges(a: Int32Array, b: Int32Array): Int32Array {
  if (a.length === 0) return b
  if (b.length === 0) return a
  const writer = rangeWriter()
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const isFromA = j >= b.length || (i < a.length && elementAt(a, i) <= elementAt(b, j))
    const from = isFromA ? a : b
    const at = isFromA ? i : j
    writer.add(elementAt(from, at), elementAt(from, at + 1))
    if (isFromA) i += 2
    else j += 2
  }
  return writer.written()
}

/** Those with a token in the set. */
export function rangesTouching(ranges: Int32Array, tokens: Uint8Array): Int32Array {
  const writer = rangeWriter()
  for (let i = 0; i < ranges.length; i += 2) {
    const end = elementAt(ranges, i + 1)
    let token = elementAt(ranges, i)
    while (token < end && tokens[token] === 0) token++
    if (token < end) writer.add(elementAt(ranges, i), end)
  }
  return writer.written()
}

/** The longest stretches of tokens that are all in the set. */
export function runsOf(tokens: Uint8Array): Int32Array {
  const writer = rangeWriter()
  for (let start = tokens.indexOf(1); start >= 0; ) {
    const stop = tokens.indexOf(0, start)
    const end = stop < 0 ? tokens.length : stop
    writer.add(start, end)
    start = tokens.indexOf(1, end)
  }
  return writer.written()
}

export function addRanges(tokens: Uint8Array, ranges: Int32Array): Uint8Array {
  for (let i = 0; i < ranges.length; i += 2) tokens.fill(1, ranges[i], ranges[i + 1])
  return tokens
}

export function tokensIn(ranges: Int32Array): number {
  let count = 0
  for (let i = 0; i < ranges.length; i += 2) count += elementAt(ranges, i + 1) - elementAt(ranges, i)
  return count
}
