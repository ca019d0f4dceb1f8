/**
 * A cache of the ids of words or longer parts for one tokenizer. It keeps recent entries in two halves and drops the
 * older half when the newer one is full.
 */
export interface WordMemory {
  get(word: string): readonly number[] | undefined
  set(word: string, ids: readonly number[]): void
}

interface Bounds {
  /** Number of entries in one half. */
  readonly most: number
  /** Length of the longest cached word, in UTF-16 code units. */
  readonly longest: number
}

/** A book has some twenty thousand different words; longer words are rare and seldom repeat. */
const WORDS: Bounds = { most: 20_000, longest: 64 }

/** Creates a cache. Words that are too long or have lone surrogates are not cached. */
export function createWordMemory({ most, longest }: Bounds = WORDS): WordMemory {
  let newer = new Map<string, readonly number[]>()
  let older = new Map<string, readonly number[]>()
  const keep = (word: string, ids: readonly number[]): void => {
    if (newer.size >= most) {
      older = newer
      newer = new Map()
    }
    newer.set(word, ids)
  }
  return {
    get(word) {
      const found = newer.get(word)
      if (found) return found
      const before = older.get(word)
      if (before) keep(ownText(word), before)
      return before
    },
    set(word, ids) {
      if (word.length <= longest && word.isWellFormed()) keep(ownText(word), ids)
    },
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Copies a key, because a slice would keep its whole text in memory. */
const ownText = (word: string): string => decoder.decode(encoder.encode(word))
