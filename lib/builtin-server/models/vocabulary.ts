/** The bytes of every token id in two arrays, which are sent to the engine thread in one piece. */
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { uint32At } from '#lib/util/element-at.ts'

/** The bytes of all ids. */
export interface Vocabulary {
  readonly bytes: Uint8Array
  /** End of the bytes of each id; they begin at the end of the id before. */
  readonly ends: Uint32Array
  readonly specialIds: ReadonlySet<number>
}

/** Returns the bytes of a tokenizer's vocabulary. */
export function vocabularyOf(tokenizer: Tokenizer): Vocabulary {
  const pieces = Array.from({ length: tokenizer.vocabularySize }, (_, id) => tokenizer.bytes(id))
  const ends = new Uint32Array(pieces.length)
  let total = 0
  pieces.forEach((piece, id) => {
    total += piece.length
    ends[id] = total
  })
  const bytes = new Uint8Array(total)
  pieces.forEach((piece, id) => {
    bytes.set(piece, uint32At(ends, id) - piece.length)
  })
  return {
    bytes,
    ends,
    specialIds: new Set(tokenizer.addedTokens.filter(({ special }) => special).map(({ id }) => id)),
  }
}

/** Returns the bytes of an id; empty if the tokenizer does not know it, because models pad their vocabulary. */
export function vocabularyBytes({ bytes, ends }: Vocabulary, id: number): Uint8Array {
  return bytes.subarray(id === 0 ? 0 : (ends[id - 1] ?? bytes.length), ends[id] ?? bytes.length)
}

/** Returns the text of ids, with U+FFFD where their joined bytes are not valid UTF-8. */
export function decodeIds(vocabulary: Vocabulary, ids: readonly number[], shows: 'all' | 'no special tokens'): string {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  const decodedIds = shows === 'all' ? ids : ids.filter((id) => !vocabulary.specialIds.has(id))
  return (
    decodedIds.map((id) => decoder.decode(vocabularyBytes(vocabulary, id), { stream: true })).join('') +
    decoder.decode()
  )
}
