/** The tokenizer of a llama.cpp server: /tokenize, /detokenize and /apply-template, one text or list of ids in each request. */
import * as z from 'zod'
import type { PostForReply } from '#lib/engine/connection.ts'
import { conversationFields, type ServerTokenizer } from '#lib/engine/tokenizer/server-tokenizer.ts'
import { isOnly, singleRequestTokenizer } from '#lib/engine/tokenizer/single-requests.ts'

const tokensSchema = z.looseObject({ tokens: z.array(z.int().min(0)) })
const contentSchema = z.looseObject({ content: z.string() })
const promptSchema = z.looseObject({ prompt: z.string() })

/** Creates the tokenizer from a function that posts JSON. */
export function serverTokenizer(ask: PostForReply): ServerTokenizer {
  const encode = async (content: string, options: object, signal: AbortSignal): Promise<readonly number[]> =>
    (await ask('/tokenize', { content, add_special: false, parse_special: true, ...options }, tokensSchema, signal))
      .tokens
  return {
    ...singleRequestTokenizer({
      encode: (text, added, signal) => encode(text, { add_special: added === 'with added tokens' }, signal),
      decode: async (tokens, signal) => (await ask('/detokenize', { tokens }, contentSchema, signal)).content,
      // The server shows it only by encoding the text with and without special tokens.
      isSpecial: async (id, text, signal) =>
        isOnly(id, await encode(text, {}, signal)) && !isOnly(id, await encode(text, { parse_special: false }, signal)),
      // The server answers them in one thread.
      atOnce: 1,
    }),
    async tokenizeMessages(conversation, signal) {
      const json = conversationFields(conversation)
      return encode((await ask('/apply-template', json, promptSchema, signal)).prompt, {}, signal)
    },
  }
}
