/** Real tokenizers that fit on a page: a byte is a token, and some texts are added tokens. */
import type { AddedToken, Tokenizer } from '#lib/tokenizer/tokenizer.ts'

const BYTES = 256

const encoder = new TextEncoder()

/** The bytes have the ids from `firstByte` on. */
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

/** With the delimiters of ChatML with tools. */
export const byteTokenizer: Tokenizer = byteTokenizerWith('bytes', chatmlTokens, 0)

/** The id of an added token of `byteTokenizer`. */
export function byteId(content: string): number {
  const added = chatmlTokens.find((token) => token.content === content)
  if (!added) throw new Error(`the byte tokenizer has no token ${content}`)
  return added.id
}
