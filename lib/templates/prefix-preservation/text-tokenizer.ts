/**
 * Tokenizer of text mode, in which the doctor compares characters. It shows whether a template breaks its own text, but not tokens that
 * merge across a boundary.
 */

import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { escapePattern } from '#lib/util/text/escape-pattern.ts'

/** Ids below this number are code points. */
const CODE_POINTS = 0x110000

const encoder = new TextEncoder()

/**
 * Returns a tokenizer in which every character is a token and every marker is one token, so that the token that ends a turn is still known.
 */
export function textTokenizer(markers: readonly string[]): Tokenizer {
  const addedTokens = markers.map((content, index) => ({ id: CODE_POINTS + index, content, special: true }))
  const idOf = new Map(addedTokens.map(({ id, content }) => [content, id]))
  const longestFirst = markers.toSorted((a, b) => b.length - a.length)
  const delimiter = new RegExp(`(${longestFirst.map(escapePattern).join('|')})`)
  return {
    name: TEXT,
    fingerprint: TEXT,
    vocabularySize: CODE_POINTS + markers.length,
    addedTokens,
    encode: (text) =>
      (markers.length === 0 ? [text] : text.split(delimiter)).flatMap((part) => {
        const id = idOf.get(part)
        return id === undefined ? Array.from(part, (character) => character.codePointAt(0) as number) : [id]
      }),
    bytes: (id) =>
      encoder.encode(id < CODE_POINTS ? String.fromCodePoint(id) : (addedTokens[id - CODE_POINTS]?.content ?? '')),
  }
}

const TEXT = 'text'

/** Whether the tokenizer is that of text mode. */
export const isTextTokenizer = ({ fingerprint }: Tokenizer): boolean => fingerprint === TEXT
