/** Which characters of a text each of its tokens holds. */
import type { Tokenizer } from './tokenizer.ts'

export interface Encoding {
  readonly ids: readonly number[]
  /** UTF-16 offset in the text at which each token starts, and the length of the text last: ids.length + 1 entries. */
  readonly starts: readonly number[]
}

const encoder = new TextEncoder()

/**
 * Encodes a text and finds each token's place in it. A token that begins inside a character starts where the character
 * does. Where the tokenizer normalises (NFC), places are found cluster by cluster; a stretch that its bytes do not spell
 * starts where the last sure one ended.
 */
export function encodeWithOffsets(tokenizer: Tokenizer, text: string): Encoding {
  const ids = tokenizer.encode(text)
  const lengths = ids.map((id) => tokenizer.bytes(id).length)
  const total = lengths.reduce((sum, length) => sum + length, 0)
  const normalised = text.normalize('NFC')
  const places =
    byteLength(text) === total
      ? bytePlaces(text, (offset) => offset)
      : byteLength(normalised) === total
        ? bytePlaces(normalised, clusterMap(text))
        : undefined
  const starts: number[] = []
  let at = 0
  for (const length of lengths) {
    starts.push(places?.[at] ?? Math.min(text.length, Math.round((at / Math.max(1, total)) * text.length)))
    at += length
  }
  starts.push(text.length)
  return { ids, starts }
}

const byteLength = (text: string): number => encoder.encode(text).length

/** For each byte of the text's UTF-8 the UTF-16 offset of the character that it is part of. */
function bytePlaces(text: string, original: (offset: number) => number): Uint32Array {
  const places = new Uint32Array(byteLength(text))
  let at = 0
  let offset = 0
  for (const character of text) {
    const code = character.codePointAt(0) as number
    const width = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    places.fill(original(offset), at, at + width)
    at += width
    offset += character.length
  }
  return places
}

/** From offsets of the NFC form back to the text's own. */
function clusterMap(text: string): (offset: number) => number {
  const map: number[] = []
  let start = 0
  for (const cluster of text.match(/\P{M}[\p{M}\u1160-\u11ff]*|\p{M}+/gu) ?? []) {
    map.push(...Array.from({ length: cluster.normalize('NFC').length }, () => start))
    start += cluster.length
  }
  return (offset) => map[offset] ?? text.length
}
