/** Tokens by their bytes: finds all tokens that an automaton can read from a state at once. */

import { elementAt } from '#lib/util/element-at.ts'
import type { Automaton } from './automaton.ts'

/** The tokens of one vocabulary. */
export interface TokenTrie {
  /** Returns an array with a 0 at each id that may come. */
  marks(automaton: Automaton, state: number): Uint8Array
}

/** Returns the trie of a vocabulary. `skipped` has the ids that may never come. */
export function createTokenTrie(tokens: readonly Uint8Array[], skipped: ReadonlySet<number>): TokenTrie {
  const root = newNode()
  tokens.forEach((bytes, id) => {
    if (skipped.has(id)) return
    let at = root
    for (const byte of bytes) {
      let index = at.bytes.indexOf(byte)
      if (index < 0) {
        index = at.bytes.push(byte) - 1
        at.children.push(newNode())
      }
      at = elementAt(at.children, index)
    }
    at.ids.push(id)
  })
  return {
    marks(automaton, state) {
      const marks = new Uint8Array(tokens.length).fill(1)
      const mark = (node: Node, from: number): void => {
        for (const id of node.ids) marks[id] = 0
        node.bytes.forEach((byte, index) => {
          const to = automaton.step(from, byte)
          if (to >= 0) mark(elementAt(node.children, index), to)
        })
      }
      mark(root, state)
      return marks
    },
  }
}

interface Node {
  /** Bytes of the children, parallel to `children`. */
  readonly bytes: number[]
  readonly children: Node[]
  /** Ids of the tokens that end here. */
  readonly ids: number[]
}

const newNode = (): Node => ({ bytes: [], children: [], ids: [] })
