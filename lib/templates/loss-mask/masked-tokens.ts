/** Token sequences with a loss mask, and what each token is in the conversation. */

import { excerpt } from '#lib/util/text/excerpt.ts'

/** A token sequence with a loss mask; every list has one entry for each token. */
export interface MaskedTokens {
  readonly ids: readonly number[]
  /** Returns the exact bytes of an id of this sequence. */
  readonly bytes: (id: number) => Uint8Array
  readonly trained: readonly boolean[]
  readonly parts: readonly MaskedPart[]
  /** Index of the message that each token belongs to; undefined outside of all messages, and if it is unknown. */
  readonly messages: readonly (number | undefined)[]
}

/**
 * What a token is. header: it opens an assistant turn, the generation prompt included. reply: the model writes it. end: the token that ends
 * the reply's turn. after-end: space after that, which the template writes. tool: a tool's result with its wrapping. context: everything
 * else. unknown: it cannot be known.
 */
export type MaskedPart = 'context' | 'tool' | 'header' | 'reply' | 'end' | 'after-end' | 'unknown'

/** Builds a sequence from pieces. */
export interface MaskedTokensBuilder {
  readonly length: () => number
  readonly add: (ids: readonly number[], of: TokenFacts | ((index: number) => TokenFacts)) => void
  readonly build: () => MaskedTokens
}

interface TokenFacts {
  readonly trained: boolean
  readonly part: MaskedPart
  readonly message: number | undefined
}

/** Returns an empty builder; `bytes` returns the exact bytes of an id. */
export function maskedTokensBuilder(bytes: (id: number) => Uint8Array): MaskedTokensBuilder {
  const ids: number[] = []
  const trained: boolean[] = []
  const parts: MaskedPart[] = []
  const messages: (number | undefined)[] = []
  return {
    length: () => ids.length,
    add: (added, of) => {
      for (const [index, id] of added.entries()) {
        const facts = typeof of === 'function' ? of(index) : of
        ids.push(id)
        trained.push(facts.trained)
        parts.push(facts.part)
        messages.push(facts.message)
      }
    },
    build: () => ({ ids, bytes, trained, parts, messages }),
  }
}

/** Returns the parts of one reply that a model or a template wrote: the last token that ends a turn is its end if only space follows. */
export function replyParts(
  ids: readonly number[],
  bytes: (id: number) => Uint8Array,
  endOfTurnId: number | undefined,
): readonly MaskedPart[] {
  const end = endOfTurnId === undefined ? -1 : ids.lastIndexOf(endOfTurnId)
  const isEnd = end >= 0 && ids.slice(end + 1).every((id) => isAsciiSpace(bytes(id)))
  return ids.map((_, index) => (!isEnd || index < end ? 'reply' : index === end ? 'end' : 'after-end'))
}

/** Whether all bytes are ASCII space. */
export const isAsciiSpace = (bytes: Uint8Array): boolean =>
  bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
/** Longest quoted text, in UTF-16 units. */
const LONGEST_QUOTE = 200

/** Returns the text of some tokens for a quote, cut if it is long. */
export function quoteTokens({ ids, bytes }: Pick<MaskedTokens, 'ids' | 'bytes'>, start: number, end: number): string {
  const text = decoder.decode(Uint8Array.from(ids.slice(start, end).flatMap((id) => [...bytes(id)])))
  return excerpt(text, LONGEST_QUOTE)
}
