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
  /** UTF-16 offset after the last character of which each token has a byte. Omitted: each token ends where the next one starts. */
  readonly ends?: readonly number[]
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
  /** Bytes of a character that has begun, and the offsets of such characters by the tokens that end inside of them. */
  let begun = new Uint8Array()
  const split = new Map<number, number>()
  let length = 0
  let isKnown = true
  for (let index = 0; index < ids.length; index++) {
    const id = elementAt(ids, index)
    let entry = vocab[id]
    if (entry === undefined) {
      isKnown = false
      entry = unknownPiece(id)
    }
    let piece: VocabEntry = entry
    if (typeof piece !== 'string' || begun.length > 0) {
      stream ??= new TextDecoder('utf-8', { ignoreBOM: true })
      const bytes = bytesOf(entry)
      piece = stream.decode(bytes, { stream: true })
      const all = new Uint8Array(begun.length + bytes.length)
      all.set(begun)
      all.set(bytes, begun.length)
      // A decoder that does not wait for the end of a character replaces its beginning.
      const isSplit = lenient.decode(all).length > piece.length
      begun = all.subarray(isSplit ? all.findLastIndex((byte) => byte >= FIRST_LEAD_BYTE) : all.length)
      if (isSplit) split.set(index, length + piece.length)
    }
    pieces[index] = piece
    starts[index] = length
    length += piece.length
  }
  const rest = stream?.decode() ?? ''
  starts[ids.length] = length + rest.length
  const text = pieces.join('') + rest
  return { text, starts, ...(split.size > 0 && { ends: endsOf(text, starts, split) }), isKnown }
}

/** The least byte that begins a character of several bytes. */
const FIRST_LEAD_BYTE = 0xc0

/** Returns where each token ends. A token that ends inside a character ends where the character does. */
function endsOf(text: string, starts: readonly number[], split: ReadonlyMap<number, number>): readonly number[] {
  const ends = starts.slice(1)
  for (const [token, at] of split) ends[token] = at + characterLength(text, at)
  return ends
}

/** Returns the number of UTF-16 units of the character at an offset. */
export const characterLength = (text: string, at: number): number => ((text.charCodeAt(at) & 0xfc00) === 0xd800 ? 2 : 1)

/** The places of tokens in a text. */
export interface TokenPlaces {
  /** As of a text with its offsets. */
  readonly starts: ArrayLike<number>
  readonly ends?: ArrayLike<number> | undefined
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
  { starts, ends }: TokenPlaces,
  start: number,
  end: number,
): { readonly start: number; readonly end: number } {
  const isBefore = (offset: number) => offset <= start
  const last = Math.max(0, partition(starts, isBefore) - 1)
  if (end <= start) return { start: last, end: last }
  // The first tokens of a character that several tokens spell end after its start, too.
  const first = ends ? Math.min(last, partition(ends, isBefore)) : last
  return { start: first, end: partition(starts, (offset) => offset < end) }
}

/** Returns the number of leading entries of a sorted array that pass the test. */
function partition(sorted: ArrayLike<number>, test: (value: number) => boolean): number {
  return countWhile(sorted.length, (index) => test(elementAt(sorted, index)))
}
