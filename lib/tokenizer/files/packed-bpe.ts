/**
 * Byte-level BPE with its vocabulary and merges in typed arrays: 7 MB for 150,000 tokens. The library keeps each entry as
 * several strings in maps.
 */

import * as z from 'zod/mini'
import type { AddedToken } from '#lib/tokenizer/tokenizer.ts'
import { elementAt, int32At } from '#lib/util/element-at.ts'
import { enlarge } from '#lib/util/enlarge.ts'
import { emptyMergeTable, type MergeTable, mergeBytes, mergeTable } from './merges.ts'
import { BYTE_OF_CHARACTER, isByteLevel, pieceBytes } from './piece-bytes.ts'

/** A vocabulary with its merges. */
export interface PackedBpe {
  /** Every id is smaller. */
  readonly size: number
  /** Returns the ids of a word that contains no added token. */
  encode(word: string): number[]
  /** Returns the exact bytes of one id; empty for an unknown id. */
  bytes(id: number): Uint8Array
}

/** With these settings the ids of a word depend on the vocabulary and the merges alone. */
const packable = z.object({
  model: z.looseObject({
    type: z.literal('BPE'),
    // The ids are checked in `pieceIds`.
    vocab: z.custom<Readonly<Record<string, number>>>((value) => typeof value === 'object' && value !== null),
    merges: z.custom<readonly unknown[]>(Array.isArray),
    end_of_word_suffix: z.nullish(z.literal('')),
    continuing_subword_suffix: z.nullish(z.literal('')),
    ignore_merges: z.nullish(z.boolean()),
  }),
  decoder: z.unknown().check(z.refine(isByteLevel)),
})

/** The tables of a packed vocabulary. */
export interface BpeTables {
  /** The bytes of all pieces. */
  readonly pieces: Uint8Array
  /** The offset of the first byte of each id, and the one after its last byte; both are 0 for an unknown id. */
  readonly starts: Uint32Array
  readonly ends: Uint32Array
  /** The id of each byte. */
  readonly idsOfBytes: Int32Array
  /** The entries of a merge table. */
  readonly merges: Int32Array
  /** A hash table of ids by the bytes of their pieces. Empty: whole words are not looked up before they are merged. */
  readonly words: Int32Array
}

/**
 * Packs the model of a tokenizer. Returns undefined for other models, and if a byte or a part of a merge has no id of its
 * own. `definition` is the parsed tokenizer.json.
 */
export function packBpe(definition: unknown, addedTokens: readonly AddedToken[]): BpeTables | undefined {
  const { data } = packable.safeParse(definition)
  if (!data) return undefined
  const ids = pieceIds(data.model.vocab, addedTokens)
  const merges = ids && packedMerges(data.model.merges, ids.of)
  const idsOfBytes = Array.from(BYTE_OF_CHARACTER.keys(), (character) => ids?.of(character))
  if (!merges || !areIds(idsOfBytes)) return undefined
  const pieces = packPieces(ids, pieceBytes(data.decoder))
  return {
    ...pieces,
    idsOfBytes: Int32Array.from(idsOfBytes),
    merges: merges.entries,
    words: data.model.ignore_merges ? wordTable(ids, pieces) : new Int32Array(),
  }
}

/** Returns the vocabulary in these tables. */
export function packedBpe(tables: BpeTables): PackedBpe {
  const { starts, idsOfBytes, words } = tables
  const merges = mergeTable(tables.merges)
  return {
    size: starts.length,
    bytes: (id) => bytesOf(tables, id),
    encode(word) {
      const bytes = utf8.encode(word)
      const whole = words.length === 0 ? -1 : int32At(words, slotOf(words, tables, bytes))
      return whole === -1 ? mergeBytes(bytes, idsOfBytes, merges) : [whole]
    },
  }
}

const utf8 = new TextEncoder()

const areIds = (ids: readonly (number | undefined)[]): ids is readonly number[] => !ids.includes(undefined)

/** The ids of all pieces. No two pieces have the same id. */
interface PieceIds {
  readonly pieces: readonly string[]
  readonly of: (piece: string) => number | undefined
  readonly size: number
}

/** Larger ids are in no real vocabulary. */
const LARGEST_ID = 1 << 21

/** Returns undefined if two pieces have the same id, if a piece has two, or if an id is not valid. */
function pieceIds(vocab: Readonly<Record<string, number>>, addedTokens: readonly AddedToken[]): PieceIds | undefined {
  const added = new Map(addedTokens.map(({ content, id }) => [content, id]))
  const of = (piece: string) => (Object.hasOwn(vocab, piece) ? vocab[piece] : added.get(piece))
  // The library also recognizes the normalized form of an added token.
  if (addedTokens.some(({ content, id }) => of(content) !== id || content !== content.normalize('NFC')))
    return undefined
  const pieces = Object.keys(vocab).concat(Array.from(added.keys()).filter((content) => !Object.hasOwn(vocab, content)))
  const taken = new Set<number>()
  let size = 0
  for (const piece of pieces) {
    const id = of(piece) as number
    if (!Number.isSafeInteger(id) || id < 0 || id > LARGEST_ID || taken.has(id)) return undefined
    taken.add(id)
    size = Math.max(size, id + 1)
  }
  return { pieces, of, size }
}

/** Returns undefined if a merge is no pair of pieces, or its result is no piece. The last of equal merges counts, as in the library. */
function packedMerges(merges: readonly unknown[], idOf: PieceIds['of']): MergeTable | undefined {
  const table = emptyMergeTable(merges.length)
  const areLists = Array.isArray(merges[0])
  for (const [rank, merge] of merges.entries()) {
    if (Array.isArray(merge) !== areLists) return undefined
    const [left, right, ...others]: readonly unknown[] = typeof merge === 'string' ? merge.split(' ', 2) : (merge as [])
    if (typeof left !== 'string' || typeof right !== 'string' || others.length > 0) return undefined
    const ids = [idOf(left), idOf(right), idOf(left + right)]
    if (!areIds(ids)) return undefined
    table.set(elementAt(ids, 0), elementAt(ids, 1), rank, elementAt(ids, 2))
  }
  return table
}

type Pieces = Pick<BpeTables, 'pieces' | 'starts' | 'ends'>

/** Packs the bytes of all pieces into one array. */
function packPieces({ pieces, of, size }: PieceIds, bytesOfPiece: (piece: string) => Uint8Array): Pieces {
  const starts = new Uint32Array(size)
  const ends = new Uint32Array(size)
  let packed = new Uint8Array(1 << 16)
  let end = 0
  for (const piece of pieces) {
    const bytes = bytesOfPiece(piece)
    if (end + bytes.length > packed.length) packed = enlarge(packed, end + bytes.length)
    const id = of(piece) as number
    packed.set(bytes, end)
    starts[id] = end
    end += bytes.length
    ends[id] = end
  }
  return { pieces: packed.slice(0, end), starts, ends }
}

const bytesOf = ({ pieces, starts, ends }: Pieces, id: number): Uint8Array =>
  pieces.slice(starts[id] ?? 0, ends[id] ?? 0)

/** Returns a hash table with the id of each piece that a word can be. */
function wordTable({ pieces, of }: PieceIds, packed: Pieces): Int32Array {
  const written = pieces.filter((piece) => Array.from(piece).every((character) => BYTE_OF_CHARACTER.has(character)))
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * written.length + 1))).fill(-1)
  for (const piece of written) {
    const id = of(piece) as number
    slots[slotOf(slots, packed, bytesOf(packed, id))] = id
  }
  return slots
}

/** Returns the slot of the id whose piece has these bytes, or the free slot where it belongs. */
function slotOf(slots: Int32Array, packed: Pieces, bytes: Uint8Array): number {
  let hash = bytes.length
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193)
  let slot = (hash ^ (hash >>> 15)) & (slots.length - 1)
  while (slots[slot] !== -1 && !areEqual(bytesOf(packed, int32At(slots, slot)), bytes))
    slot = (slot + 1) & (slots.length - 1)
  return slot
}

const areEqual = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index])
