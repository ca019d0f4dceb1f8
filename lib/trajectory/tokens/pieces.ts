/** The text of token ids, from the vocabulary that travels with a trajectory. */

import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { Vocab, VocabEntry } from '../format/trajectory.ts'

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

export interface TextWithStarts {
  readonly text: string
  /** For each token the UTF-16 offset at which it starts, and after the last one the length: n + 1 entries. */
  readonly starts: readonly number[]
  /** Of none of the tokens the text is missing. */
  readonly isKnown: boolean
}

export function textWithStarts(ids: ArrayLike<number>, vocab: Vocab): TextWithStarts {
  // Most texts have whole characters in each token: making a decoder takes longer than reading them.
  let stream: TextDecoder | undefined
  // As long as they become: lists that grow are copied again and again.
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
  return countWhile(sorted.length, (index) => test(elementAt(sorted, index)))
}
