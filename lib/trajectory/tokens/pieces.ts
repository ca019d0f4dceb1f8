/** The texts of token ids, from the vocabulary of a trajectory. */

import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { Vocab, VocabEntry } from '../format/trajectory.ts'

const encoder = new TextEncoder()
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const lenient = new TextDecoder('utf-8', { ignoreBOM: true })

/** Returns the text if the bytes alone are valid UTF-8, otherwise their hexadecimal digits, so nothing is lost. */
export function vocabEntry(bytes: Uint8Array): VocabEntry {
  try {
    return strict.decode(bytes)
  } catch {
    return { hex: Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('') }
  }
}

/** Returns the bytes of a vocabulary entry. */
export function bytesOf(entry: VocabEntry): Uint8Array {
  if (typeof entry === 'string') return encoder.encode(entry)
  return Uint8Array.from(entry.hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16))
}

/** Returns the placeholder of a token without a known text. */
export const unknownPiece = (id: number): string => `⟨${id}⟩`

/**
 * Returns the text of consecutive tokens: their bytes are joined and decoded. Invalid UTF-8 becomes U+FFFD, and a token
 * without a known text its id in brackets.
 */
export function textOf(ids: ArrayLike<number>, vocab: Vocab): string {
  return textWithStarts(ids, vocab).text
}

/** A text with the offsets of its tokens. */
export interface TextWithStarts {
  readonly text: string
  /** UTF-16 offset at which each token starts, then the length: n + 1 entries. */
  readonly starts: readonly number[]
  /** True if the texts of all tokens are known. */
  readonly isKnown: boolean
}

/** Decodes tokens with their offsets. */
export function textWithStarts(ids: ArrayLike<number>, vocab: Vocab): TextWithStarts {
  // In most texts every token has whole characters; creating a decoder takes longer than reading those.
  let stream: TextDecoder | undefined
  // Allocated at full length, because growing lists are copied repeatedly.
  const starts = new Array<number>(ids.length + 1)
  const pieces = new Array<string>(ids.length)
  let length = 0
  let pending = false
  let isKnown = true
  for (let index = 0; index < ids.length; index++) {
    const id = elementAt(ids, index)
    let entry = vocab[id]
    if (entry === undefined) {
      isKnown = false
      entry = unknownPiece(id)
    }
    let piece: VocabEntry = entry
    if (typeof piece !== 'string' || pending) {
      stream ??= new TextDecoder('utf-8', { ignoreBOM: true })
      const bytes = bytesOf(entry)
      piece = stream.decode(bytes, { stream: true })
      pending = bytes.length === 0 ? pending : lenient.decode(bytes).endsWith('\uFFFD')
    }
    pieces[index] = piece
    starts[index] = length
    length += piece.length
  }
  const rest = stream?.decode() ?? ''
  starts[ids.length] = length + rest.length
  return { text: pieces.join('') + rest, starts, isKnown }
}

/** Returns a function that gives the text of the first tokens, as textOf does, without decoding them for each length. */
export function textOfFirst(ids: ArrayLike<number>, vocab: Vocab): (count: number) => string {
  const { text, starts } = textWithStarts(ids, vocab)
  return (count) => {
    const last = vocab[ids[count - 1] ?? -1]
    // If these tokens may end inside a character, their text has U+FFFD in place of it.
    return last === '' || typeof last === 'object'
      ? textOf(Array.prototype.slice.call(ids, 0, count), vocab)
      : text.slice(0, starts[count])
  }
}

/** Returns the tokens of a range of text: every token with a character, or a part of one, in it. */
export function tokensAt(
  starts: ArrayLike<number>,
  start: number,
  end: number,
): { readonly start: number; readonly end: number } {
  const first = partition(starts, (offset) => offset <= start) - 1
  if (end <= start) return { start: Math.max(0, first), end: Math.max(0, first) }
  return { start: backOverParts(starts, first), end: partition(starts, (offset) => offset < end) }
}

/** Tokens that end inside a character have no offset of their own: they share that of the character. */
function backOverParts(starts: ArrayLike<number>, index: number): number {
  let first = index
  while (first > 0 && starts[first - 1] === starts[index]) first--
  return Math.max(0, first)
}

/** Returns the number of leading entries of a sorted array that pass the test. */
function partition(sorted: ArrayLike<number>, test: (value: number) => boolean): number {
  return countWhile(sorted.length, (index) => test(elementAt(sorted, index)))
}
