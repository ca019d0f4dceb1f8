/** Tokens that end inside a character share it with their neighbours: which ones, and the character that they form. */
import { bytesOf } from './pieces.ts'
import type { Span, Vocab } from './trajectory.ts'

/** The tokens around one that form whole characters only together, half-open; undefined where it has only whole ones. */
export function characterGroup(ids: ArrayLike<number>, index: number, vocab: Vocab): Span | undefined {
  let start = index
  let end = index + 1
  while (start > 0 && joins(start, ids, vocab)) start--
  while (end < ids.length && joins(end, ids, vocab)) end++
  return end - start > 1 ? { start, end } : undefined
}

/** Whether a character goes on from the token before into this one. */
function joins(index: number, ids: ArrayLike<number>, vocab: Vocab): boolean {
  const before = vocab[ids[index - 1] as number]
  const entry = vocab[ids[index] as number]
  // Texts are whole characters: only entries of bytes can share one.
  if (typeof before !== 'object' || typeof entry !== 'object') return false
  return missingBytes(bytesOf(before)) > 0 && isContinuation(bytesOf(entry)[0])
}

/** Bytes that the last character lacks. */
function missingBytes(bytes: Uint8Array): number {
  const lead = bytes.findLastIndex((byte) => !isContinuation(byte))
  // Continuation bytes alone: they may be the middle of a character of four.
  if (lead < 0) return 1
  return lengthOf(bytes[lead] as number) - (bytes.length - lead)
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

/** Bytes of the character that a byte begins. */
function lengthOf(lead: number): number {
  if (lead >= 0xf0) return 4
  if (lead >= 0xe0) return 3
  return lead >= 0xc0 ? 2 : 1
}
