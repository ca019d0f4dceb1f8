/** A run of text that matches a regular expression: which tokens may come, by their bytes. */
import type { Part } from '../grammar.ts'
import { automatonOf } from './automaton.ts'
import { parseRegex } from './syntax.ts'
import type { TokenTrie } from './token-trie.ts'

/** Marks of so many states are kept, 150 kB each with a vocabulary of 150,000. */
const KEPT = 64

/** Of places in states: 50 MB. What was reached before can be reached again. */
const MOST_HELD = 4_000_000

/** Throws a SyntaxError that says what is wrong with it. */
export function regexPart(source: string, trie: TokenTrie, bytesOf: (id: number) => Uint8Array): Part {
  let automaton = automatonOf(parseRegex(source))
  const kept = new Map<number, Uint8Array>()
  let state = 0
  return {
    next() {
      if (automaton.size() > MOST_HELD) {
        automaton = automaton.from(state)
        state = 0
        kept.clear()
      }
      const marks = kept.get(state) ?? trie.marks(automaton, state)
      if (kept.size < KEPT) kept.set(state, marks)
      return { marks, isComplete: automaton.isComplete(state) }
    },
    take(id) {
      for (const byte of bytesOf(id)) state = automaton.step(state, byte)
    },
  }
}
