/** The text of tokens as one sequence of numbers for comparison. */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { enlarge } from '#lib/util/enlarge.ts'

/** Returns the exact bytes of an id, or undefined if unknown. It is called often and must be cheap. */
export type BytesOf = (id: number) => Uint8Array | undefined

/** The symbols of a token sequence. */
export interface SymbolSequence {
  /** Bytes; an id without a known text is one symbol of its own, from 256 on. */
  readonly symbols: Int32Array
  /** Start of each token among the symbols, then the number of symbols: n + 1 entries. */
  readonly starts: Int32Array
}

/** First symbol that is not a byte. */
export const FIRST_UNKNOWN = 256

/** Initial capacity: more than the average token of most tokenizers. */
const SYMBOLS_A_TOKEN = 6

/** Returns the symbols of a range of tokens. */
export function spelling(ids: ArrayLike<number>, { start, end }: Span, bytes: BytesOf): SymbolSequence {
  const starts = new Int32Array(end - start + 1)
  let symbols = new Int32Array(SYMBOLS_A_TOKEN * (end - start))
  let at = 0
  for (let index = start; index < end; index++) {
    const id = ids[index] as number
    const token = bytes(id)
    const next = at + (token ? token.length : 1)
    if (next > symbols.length) symbols = enlarge(symbols, next)
    if (!token) symbols[at] = FIRST_UNKNOWN + id
    // A loop: set() costs more than tokens are long.
    else for (let byte = 0; byte < token.length; byte++) symbols[at + byte] = token[byte] as number
    at = next
    starts[index - start + 1] = at
  }
  return { symbols: symbols.subarray(0, at), starts }
}
