/** The text and the bytes of a token in words, whatever it contains. */

import { visibleText } from '#components/ui/visible-text.ts'
import type { VocabEntry } from '#lib/trajectory/format/trajectory.ts'
import { bytesOf } from '#lib/trajectory/tokens/pieces.ts'
import { clipText, countText } from '../numbers.ts'

/** Returns the text of a token as a JSON string without invisible characters, or its bytes. */
export const quotedPiece = (entry: VocabEntry | undefined): string =>
  typeof entry === 'string'
    ? visibleText(JSON.stringify(entry))
    : entry === undefined
      ? 'unknown'
      : `bytes ${entry.hex}`

/** Returns the first MANY_BYTES bytes of a token in hexadecimal. */
export function pieceBytesText(entry: VocabEntry | undefined): string {
  if (entry === undefined) return 'unknown'
  const bytes = hexOf(bytesOf(entry).subarray(0, MANY_BYTES))
  const count = bytesOf(entry).length
  return count > MANY_BYTES ? `${bytes} … (${countText(count)})` : bytes || 'none'
}

/** Returns bytes in hexadecimal, such as `E6 97 A5`. */
export const hexOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).toUpperCase().padStart(2, '0')).join(' ')

/** Returns the text of a token as a JSON string, shortened; undefined if the token is unknown. */
export const entryText = (entry: VocabEntry | undefined): string | undefined =>
  typeof entry === 'string' ? visibleText(clipText(JSON.stringify(entry), LONG_TEXT)) : entry && 'part of a character'

const MANY_BYTES = 24
const LONG_TEXT = 200
