/** Characters whose bytes are spread over several tokens. */

import type { VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { bytesOf } from '#lib/trajectory/tokens/pieces.ts'
import { elementAt, uint8At } from '#lib/util/element-at.ts'

/** Returns the bytes of a token that is not text by itself; undefined for other tokens. */
export type PartBytes = (index: number) => Uint8Array | undefined

/** Longest character of UTF-8, in bytes. */
const LONGEST_CHARACTER = 4

/** Returns the bytes of an entry that is not text by itself; undefined for a text or an unknown token. */
export const partBytes = (entry: VocabEntry | undefined): Uint8Array | undefined =>
  entry === undefined || typeof entry === 'string' ? undefined : bytesOf(entry)

/**
 * Returns the character that a token completes and the token in which it began; undefined if there is none. At most three
 * bytes before the token are read, since the first byte of a UTF-8 character is recognizable.
 */
export function completedCharacter(
  part: PartBytes,
  index: number,
): { readonly text: string; readonly start: number } | undefined {
  const own = part(index)
  if (!own) return undefined
  const before: number[] = []
  for (let at = index - 1; at >= 0 && before.length < LONGEST_CHARACTER - 1; at--) {
    const bytes = part(at)
    if (!bytes) return undefined
    for (let byte = bytes.length - 1; byte >= 0 && before.length < LONGEST_CHARACTER - 1; byte--) {
      before.unshift(uint8At(bytes, byte))
      if (isContinuation(elementAt(before, 0))) continue
      const missing = lengthOf(elementAt(before, 0)) - before.length
      if (missing <= 0 || missing > own.length) return undefined
      const text = decodeBytes([...before, ...own.subarray(0, missing)])
      return text === undefined ? undefined : { text, start: at }
    }
  }
  return undefined
}

/** Returns the tokens, half-open, of the split character that a token is part of; undefined if it is part of none. */
export function splitCharacterAt(
  part: PartBytes,
  index: number,
  count: number,
): { readonly start: number; readonly end: number } | undefined {
  for (let end = index; end < Math.min(count, index + LONGEST_CHARACTER); end++) {
    const found = completedCharacter(part, end)
    if (found && found.start <= index) return { start: found.start, end: end + 1 }
  }
  return undefined
}

const isContinuation = (byte: number): boolean => byte >> 6 === 0b10

/** Returns the length of a character from its first byte; 1 if the byte begins none. */
const lengthOf = (first: number): number => (first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1)

/** Returns the character of these bytes; undefined if they are not valid UTF-8. A TextDecoder would cost ten times as much. */
function decodeBytes(bytes: readonly number[]): string | undefined {
  const [first = 0, ...rest] = bytes
  if (rest.some((byte) => !isContinuation(byte))) return undefined
  const code = rest.reduce((sum, byte) => (sum << 6) | (byte & 0x3f), first & (0x7f >> bytes.length))
  const isShortest = code >= (SMALLEST[bytes.length] ?? 0)
  return isShortest && code <= 0x10ffff && !(code >= 0xd800 && code < 0xe000) ? String.fromCodePoint(code) : undefined
}

/** Smallest code point of a character of so many bytes. */
const SMALLEST = [0, 0, 0x80, 0x800, 0x10000]
