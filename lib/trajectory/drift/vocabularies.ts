/** Maps the ids of two trajectories to common numbers, so that equal numbers are equal tokens. */
import { bytesOf as entryBytes } from '../tokens/pieces.ts'
import { idColumn } from '../tokens/tokens.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'
import type { BytesOf } from './align/spelling.ts'

/** Two trajectories in common numbers. */
export interface CommonIds {
  readonly left: Int32Array
  readonly right: Int32Array
  /** Returns the bytes of a common number. */
  readonly bytes: BytesOf
  /** False if the numbers represent texts instead of ids. */
  readonly sameVocabulary: boolean
}

/**
 * Keeps ids of one tokenizer, and takes a text that one trajectory lacks from the other. Tokens of two tokenizers are
 * equal if their bytes are, also special ones; an id without a text equals the same id.
 */
export function mapToCommonVocabulary(left: TrajectoryView, right: TrajectoryView): CommonIds {
  if (isOneVocabulary(left, right))
    return { left: idColumn(left), right: idColumn(right), bytes: sharedBytes(left, right), sameVocabulary: true }
  const [ours, theirs] = [idColumn(left), idColumn(right)]
  const [ourKeys, theirKeys] = [keysOf(ours, left), keysOf(theirs, right)]
  // Sorted by content, so the numbers do not depend on the side.
  const keys = [...new Set([...ourKeys.values(), ...theirKeys.values()])].sort()
  const numbers = new Map(keys.map((key, number) => [key, number]))
  const numbered = (all: Int32Array, keyOf: ReadonlyMap<number, string>): Int32Array => {
    const known = new Map(Array.from(keyOf, ([id, key]) => [id, numbers.get(key) as number]))
    return all.map((id) => known.get(id) as number)
  }
  const texts = keys.map(keyBytes)
  return {
    left: numbered(ours, ourKeys),
    right: numbered(theirs, theirKeys),
    bytes: (number) => texts[number],
    sameVocabulary: false,
  }
}

/** Returns the key of each id: its bytes, or the id itself if its text is unknown. */
const keysOf = (all: Int32Array, { vocab }: TrajectoryView): ReadonlyMap<number, string> =>
  new Map(
    Array.from(new Set(all), (id) => {
      const entry = vocab[id]
      return [id, entry === undefined ? `id ${id}` : textKey(entryBytes(entry))]
    }),
  )

const keyBytes = (key: string): Uint8Array | undefined => {
  if (key.startsWith('id ')) return undefined
  return key === '' ? new Uint8Array() : Uint8Array.from(key.split(','), Number)
}

/**
 * Returns whether ids mean the same on both sides. Two fingerprints of files, or two of servers, decide; next to a
 * server's, an equal name decides; otherwise ids are compatible if none has two texts.
 */
function isOneVocabulary(left: TrajectoryView, right: TrajectoryView): boolean {
  const [ours, theirs] = [left.model.tokenizer, right.model.tokenizer]
  if (ours && theirs) {
    if (ours.fingerprint !== undefined && theirs.fingerprint !== undefined) {
      if (ours.fingerprint === theirs.fingerprint) return true
      if (ours.source === theirs.source) return false
    }
    if (ours.source !== theirs.source && ours.name === theirs.name) return true
  }
  return Object.entries(left.vocab).every(([id, entry]) => {
    const other = right.vocab[id]
    return other === undefined || other === entry || textKey(entryBytes(other)) === textKey(entryBytes(entry))
  })
}

const textKey = (bytes: Uint8Array): string => bytes.join()

/** A server's texts are not always the exact bytes, so those of a tokenizer file are preferred. */
function sharedBytes(left: TrajectoryView, right: TrajectoryView): BytesOf {
  const known = new Map<number, Uint8Array | undefined>()
  const [first, second] = left.model.tokenizer?.source === 'server' ? [right, left] : [left, right]
  return (id) => {
    const found = known.get(id)
    if (found) return found
    const entry = first.vocab[id] ?? second.vocab[id]
    const bytes = entry === undefined ? undefined : entryBytes(entry)
    known.set(id, bytes)
    return bytes
  }
}
