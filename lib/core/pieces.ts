/** The text of token ids, from the vocabulary that travels with a trajectory. */
import { countWhile } from './bisect.ts'
import type { Vocab, VocabEntry } from './trajectory.ts'

const encoder = new TextEncoder()
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

/** A text where the bytes are valid UTF-8 alone, else their hexadecimal digits: nothing is lost either way. */
export function vocabEntry(bytes: Uint8Array): VocabEntry {
  try {
    return strict.decode(bytes)
  } catch {
    return { hex: Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('') }
  }
}

export function bytesOf(entry: VocabEntry): Uint8Array {
  if (typeof entry === 'string') return encoder.encode(entry)
  return Uint8Array.from(entry.hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))
}

/** What stands for a token whose text is not known. */
export const unknownPiece = (id: number): string => `⟨${id}⟩`

/**
 * The text of consecutive tokens: bytes joined, then decoded; U+FFFD where they are not valid UTF-8 together, the id in
 * brackets where the text is not known.
 */
export function textOf(ids: ArrayLike<number>, vocab: Vocab): string {
  return textWithStarts(ids, vocab).text
}

/** The text of consecutive tokens, and for each token the UTF-16 offset at which it starts (n + 1 entries). */
export function textWithStarts(
  ids: ArrayLike<number>,
  vocab: Vocab,
): { readonly text: string; readonly starts: readonly number[] } {
  const stream = new TextDecoder('utf-8', { ignoreBOM: true })
  const starts = [0]
  let text = ''
  let pending = false
  for (const id of Array.from(ids)) {
    const entry = vocab[id] ?? unknownPiece(id)
    if (typeof entry === 'string' && !pending) {
      text += entry
    } else {
      const bytes = bytesOf(entry)
      text += stream.decode(bytes, { stream: true })
      pending = bytes.length === 0 ? pending : lenient.decode(bytes).endsWith('\uFFFD')
    }
    starts.push(text.length)
  }
  text += stream.decode()
  starts[starts.length - 1] = text.length
  return { text, starts }
}

/** The tokens that hold a range of text: every token with a character, or a part of one, in it. */
export function tokensAt(
  starts: ArrayLike<number>,
  start: number,
  end: number,
): { readonly start: number; readonly end: number } {
  const first = partition(starts, (offset) => offset <= start) - 1
  if (end <= start) return { start: Math.max(0, first), end: Math.max(0, first) }
  return { start: backOverParts(starts, first), end: partition(starts, (offset) => offset < end) }
}

/** Tokens that end inside a character have no offset of their own: they share the one of the character they begin. */
function backOverParts(starts: ArrayLike<number>, index: number): number {
  let first = index
  while (first > 0 && starts[first - 1] === starts[index]) first--
  return Math.max(0, first)
}

/** Number of leading entries of a sorted array for which the test holds. */
function partition(sorted: ArrayLike<number>, test: (value: number) => boolean): number {
  return countWhile(sorted.length, (index) => test(sorted[index] as number))
}
