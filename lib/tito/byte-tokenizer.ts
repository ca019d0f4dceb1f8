/** A real tokenizer that fits on a page: a byte is a token, and the delimiters of ChatML with tools are added tokens. */
import type { AddedToken, Tokenizer } from './tokenizer.ts'

const BYTES = 256

const addedTokens: readonly AddedToken[] = [
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

const encoder = new TextEncoder()

export const byteTokenizer: Tokenizer = {
  name: 'bytes',
  fingerprint: 'bytes',
  vocabularySize: BYTES + addedTokens.length,
  addedTokens,
  encode: (text) =>
    text.split(/(<\|\w+\|>|<\/?(?:think|tool_call)>)/).flatMap((part) => {
      const added = addedTokens.find(({ content }) => content === part)
      return added ? [added.id] : Array.from(encoder.encode(part))
    }),
  bytes: (id) => (id < BYTES ? Uint8Array.of(id) : encoder.encode(addedTokens[id - BYTES]?.content ?? '')),
}

/** The id of an added token. */
export function byteId(content: string): number {
  const added = addedTokens.find((token) => token.content === content)
  if (!added) throw new Error(`the byte tokenizer has no token ${content}`)
  return added.id
}
