/** A token sequence with a loss mask, and what each of its tokens is in the conversation. */

export interface MaskedTokens {
  readonly ids: readonly number[]
  /** The exact bytes of an id of this sequence. */
  readonly bytes: (id: number) => Uint8Array
  readonly trained: readonly boolean[]
  readonly parts: readonly MaskedPart[]
  /** Index of the message that each token stands for; undefined outside of all, and where it is not known. */
  readonly messages: readonly (number | undefined)[]
}

/**
 * header: what opens an assistant turn, generation prompt included. reply: what the model writes. end: the token that ends its
 * turn. after-end: space behind that, which the template writes. tool: a tool's result with its wrapping. context: anything
 * else. unknown: it cannot be told.
 */
export type MaskedPart = 'context' | 'tool' | 'header' | 'reply' | 'end' | 'after-end' | 'unknown'

/** A sequence that is put together from pieces. */
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

/**
 * The parts of what a model or a template wrote as one reply: the last token that ends a turn is its end, if nothing but
 * space follows.
 */
export function replyParts(
  ids: readonly number[],
  bytes: (id: number) => Uint8Array,
  endOfTurnId: number | undefined,
): readonly MaskedPart[] {
  const end = endOfTurnId === undefined ? -1 : ids.lastIndexOf(endOfTurnId)
  const isEnd = end >= 0 && ids.slice(end + 1).every((id) => isSpace(bytes(id)))
  return ids.map((_, index) => (!isEnd || index < end ? 'reply' : index === end ? 'end' : 'after-end'))
}

export const isSpace = (bytes: Uint8Array): boolean =>
  bytes.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d))

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
/** UTF-16 units of a text that is quoted. */
const LONGEST_QUOTE = 200

/** The text of some tokens, as it may be quoted: cut where it is long. */
export function quoted({ ids, bytes }: Pick<MaskedTokens, 'ids' | 'bytes'>, start: number, end: number): string {
  const text = decoder.decode(Uint8Array.from(ids.slice(start, end).flatMap((id) => [...bytes(id)])))
  return text.length <= LONGEST_QUOTE ? text : `${text.slice(0, LONGEST_QUOTE)}…`
}
