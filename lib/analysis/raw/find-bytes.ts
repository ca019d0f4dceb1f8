import { int32At, uint8At } from '#lib/util/element-at.ts'
import { hasCapital } from '../find/folded-text.ts'
import { rangeWriter } from '../find/ranges.ts'

/** Number of bytes between two yields. They take 20 ms if every second byte is a hit. */
const SLICE = 1 << 20

/**
 * Finds a text in UTF-8 bytes. Returns flat pairs of byte offsets that do not overlap. If the text has no capital letter, the case of
 * A to Z is ignored. Yields the offset that the search has reached.
 */
export function* findBytes(bytes: Uint8Array, text: string): Generator<number, Int32Array> {
  const fold = hasCapital(text) ? SAME : LOWER
  const needle = new TextEncoder().encode(text).map((byte) => uint8At(fold, byte))
  const writer = rangeWriter()
  const { length } = needle
  if (length === 0) return writer.written()
  // Horspool's algorithm: the last byte of the window determines how far the window can move.
  const shifts = new Int32Array(256).fill(length)
  for (let i = 0; i < length - 1; i++) shifts[uint8At(needle, i)] = length - 1 - i
  let next = SLICE
  for (let at = 0; at + length <= bytes.length; ) {
    const last = uint8At(fold, uint8At(bytes, at + length - 1))
    if (last === needle[length - 1] && isAt(bytes, at, needle, fold)) {
      writer.add(at, at + length)
      at += length
    } else at += int32At(shifts, last)
    if (at < next) continue
    next = at + SLICE
    yield at
  }
  return writer.written()
}

function isAt(bytes: Uint8Array, at: number, needle: Uint8Array, fold: Uint8Array): boolean {
  for (let i = 0; i < needle.length; i++) if (fold[uint8At(bytes, at + i)] !== needle[i]) return false
  return true
}

const SAME = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const LOWER = SAME.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte))
