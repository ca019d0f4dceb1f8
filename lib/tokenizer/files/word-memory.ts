/**
 * Ids of words, or of longer parts, for all texts that one tokenizer encodes. It keeps what was asked for last: two halves, of
 * which the older one is dropped when the newer is full.
 */
export interface WordMemory {
  get(word: string): readonly number[] | undefined
  set(word: string, ids: readonly number[]): void
}

interface Bounds {
  /** Of one half. */
  readonly most: number
  /** UTF-16 code units. */
  readonly longest: number
}

/** A book has some twenty thousand different words; longer ones are rare and seldom come again. */
const WORDS: Bounds = { most: 20_000, longest: 64 }

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

/** Part of a text keeps the whole text in memory; this one stands for itself. */
const ownText = (word: string): string => decoder.decode(encoder.encode(word))
