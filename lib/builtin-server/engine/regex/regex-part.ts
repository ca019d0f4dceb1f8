/** A piece of text that matches a regular expression: determines which tokens may come by their bytes. */
import type { GrammarPart } from '../grammar.ts'
import { automatonOf } from './automaton.ts'
import { parseRegex } from './syntax.ts'
import type { TokenTrie } from './token-trie.ts'

/** Number of states whose marks are cached, 150 kB each with a vocabulary of 150,000. */
const KEPT = 64

/** Largest number of places in states, about 50 MB. Beyond it, reached states are dropped and created again when needed. */
const MOST_HELD = 4_000_000

/** Returns the part of an expression. Throws SyntaxError with the reason. */
export function regexPart(source: string, trie: TokenTrie, bytesOf: (id: number) => Uint8Array): GrammarPart {
  let automaton = automatonOf(parseRegex(source))
  const masks = new Map<number, Uint8Array>()
  let state = 0
  return {
    next() {
      if (automaton.size() > MOST_HELD) {
        automaton = automaton.from(state)
        state = 0
        masks.clear()
      }
      const marks = masks.get(state) ?? trie.marks(automaton, state)
      if (masks.size < KEPT) masks.set(state, marks)
      return { marks, isComplete: automaton.isComplete(state) }
    },
    take(id) {
      for (const byte of bytesOf(id)) state = automaton.step(state, byte)
    },
  }
}
