/** Keys and values of token sequences seen before: a prompt that begins like one of them is computed from there on. */
import { commonIds } from '#lib/core/common-prefix.ts'
import { bytesIn, firstPositions, type KeyValues } from './onnx-model.ts'

export interface PrefixCache {
  /** The longest known beginning of these ids, of at most `limit` tokens. */
  find(ids: readonly number[], limit: number): KeyValues
  /** `ids`: at least as many as there are positions. */
  keep(ids: readonly number[], keyValues: KeyValues): void
  clear(): void
}

/** Above `maxBytes`, what was used longest ago goes first. */
export function createPrefixCache(empty: KeyValues, maxBytes: number): PrefixCache {
  interface Entry {
    readonly ids: Int32Array
    readonly keyValues: KeyValues
    readonly bytes: number
  }
  /** Least recently used first. */
  let entries: Entry[] = []
  const touch = (entry: Entry): void => {
    entries = [...entries.filter((other) => other !== entry), entry]
  }
  return {
    find(ids, limit) {
      const found = entries
        .map((entry) => ({ entry, length: Math.min(limit, commonIds(entry.ids, ids)) }))
        .reduce<{ entry: Entry; length: number } | undefined>(
          (a, b) => (b.length > (a?.length ?? 0) ? b : a),
          undefined,
        )
      if (!found) return empty
      touch(found.entry)
      return firstPositions(found.entry.keyValues, found.length)
    },
    keep(ids, keyValues) {
      const known = Int32Array.from(ids.slice(0, keyValues.length))
      const longer = entries.find((entry) => commonIds(entry.ids, known) === known.length)
      if (longer) return touch(longer)
      const bytes = bytesIn(keyValues)
      if (bytes > maxBytes) return
      entries = entries.filter((entry) => commonIds(entry.ids, known) < entry.ids.length)
      entries.push({ ids: known, keyValues, bytes })
      let total = entries.reduce((sum, entry) => sum + entry.bytes, 0)
      while (total > maxBytes) total -= entries.shift()?.bytes ?? 0
    },
    clear() {
      entries = []
    },
  }
}
