/** Real tokenizers that are small enough to read: each byte is a token, and some texts are added tokens. */
import type { AddedToken, Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { vocabEntry } from '#lib/trajectory/tokens/pieces.ts'

const BYTES = 256

const encoder = new TextEncoder()

/** Returns a tokenizer whose byte b has the id `firstByte` + b. */
export function byteTokenizerWith(name: string, addedTokens: readonly AddedToken[], firstByte: number): Tokenizer {
  const idOf = new Map(addedTokens.map(({ id, content }) => [content, id]))
  const contentOf = new Map(addedTokens.map(({ id, content }) => [id, encoder.encode(content)]))
  const longestFirst = [...idOf.keys()].sort((a, b) => b.length - a.length)
  const delimiter = new RegExp(`(${longestFirst.map(RegExp.escape).join('|')})`)
  return {
    name,
    fingerprint: name,
    vocabularySize: Math.max(firstByte + BYTES, ...addedTokens.map(({ id }) => id + 1)),
    addedTokens,
    encode: (text) =>
      text.split(delimiter).flatMap((part) => {
        const added = idOf.get(part)
        return added === undefined ? Array.from(encoder.encode(part), (byte) => firstByte + byte) : [added]
      }),
    bytes: (id) => {
      const byte = id - firstByte
      return byte >= 0 && byte < BYTES ? Uint8Array.of(byte) : (contentOf.get(id) ?? new Uint8Array())
    },
  }
}

const chatmlTokens: readonly AddedToken[] = [
  '<|endoftext|>',
  '<|im_start|>',
  '<|im_end|>',
  '<think>',
  '</think>',
  '<tool_call>',
  '</tool_call>',
  '<|user|>',
  '<|assistant|>',
  '<|observation|>',
].map((content, index) => ({ id: BYTES + index, content, special: content.startsWith('<|') }))

/** Tokenizer of bytes (ids 0 to 255) with the delimiters of ChatML with tools as added tokens. */
export const byteTokenizer: Tokenizer = byteTokenizerWith('bytes', chatmlTokens, 0)

/** Returns the vocabulary of a trajectory with the ids of a byte tokenizer. */
export const byteVocab = ({ vocabularySize, bytes } = byteTokenizer): Trajectory['vocab'] =>
  Object.fromEntries(Array.from({ length: vocabularySize }, (_, id) => [id, vocabEntry(bytes(id))]))

/** Returns the id of an added token of `byteTokenizer`. Throws Error if there is none. */
export function byteId(content: string): number {
  const added = chatmlTokens.find((token) => token.content === content)
  if (!added) throw new Error(`the byte tokenizer has no token ${content}`)
  return added.id
}
