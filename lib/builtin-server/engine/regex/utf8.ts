/** Converts ranges of code points to their bytes in UTF-8. */

import { uint8At } from '#lib/util/element-at.ts'
import type { CodePointRange } from './syntax.ts'

/** A sequence of byte ranges: a character has one byte from each of them in order. */
export type ByteSequence = readonly CodePointRange[]

/** Ranges of code points with equally many bytes; halves of surrogate pairs have none. */
const LENGTHS: readonly CodePointRange[] = [
  [0, 0x7f],
  [0x80, 0x7ff],
  [0x800, 0xd7ff],
  [0xe000, 0xffff],
  [0x10000, 0x10ffff],
]

/** Returns sequences so that every code point of the range matches exactly one of them. */
export function byteSequences([first, last]: CodePointRange): ByteSequence[] {
  return LENGTHS.flatMap(([least, most]) => {
    const [from, to] = [Math.max(first, least), Math.min(last, most)]
    return from <= to ? split(from, to, 1) : []
  })
}

/**
 * Splits a range until the bytes of its ends describe it: each further byte takes all its values, or all its code points share the bytes
 * before.
 */
function split(first: number, last: number, place: number): ByteSequence[] {
  const [low, high] = [encoder.encode(String.fromCodePoint(first)), encoder.encode(String.fromCodePoint(last))]
  if (place >= low.length) return [Array.from(low, (byte, index): CodePointRange => [byte, uint8At(high, index)])]
  const under = (1 << (6 * place)) - 1
  if ((first | under) !== (last | under)) {
    if ((first & under) !== 0)
      return [...split(first, first | under, place + 1), ...split((first | under) + 1, last, place)]
    if ((last & under) !== under)
      return [...split(first, (last & ~under) - 1, place), ...split(last & ~under, last, place + 1)]
  }
  return split(first, last, place + 1)
}

const encoder = new TextEncoder()
