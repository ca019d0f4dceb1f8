/** The tokenizer of a vLLM server: /tokenize and /detokenize, one text, conversation or list of ids in each request. */
import * as z from 'zod'
import type { PostForReply } from '#lib/engine/connection.ts'
import { conversationFields, type ServerTokenizer } from '#lib/engine/tokenizer/server-tokenizer.ts'
import { isOnly, singleRequestTokenizer } from '#lib/engine/tokenizer/single-requests.ts'

const tokensSchema = z.looseObject({ tokens: z.array(z.int().min(0)) })
const promptSchema = z.looseObject({ prompt: z.string() })
const textSchema = z.looseObject({ choices: z.array(z.looseObject({ text: z.string() })).min(1) })

/** Creates the tokenizer from a function that posts JSON and one that returns the name of the model. */
export function serverTokenizer(ask: PostForReply, model: (signal: AbortSignal) => Promise<string>): ServerTokenizer {
  const encode = async (prompt: string, adds: boolean, signal: AbortSignal): Promise<readonly number[]> =>
    (await ask('/tokenize', { prompt, add_special_tokens: adds }, tokensSchema, signal)).tokens
  const isLeftOut = async (id: number, signal: AbortSignal): Promise<boolean> => {
    const forced = { allowed_token_ids: [id], max_tokens: 1, temperature: 0, ignore_eos: true }
    const body = { model: await model(signal), prompt: [id], ...forced, skip_special_tokens: true }
    const { choices } = await ask('/v1/completions', body, textSchema, signal)
    return choices[0]?.text === ''
  }
  return {
    ...singleRequestTokenizer({
      encode: (text, added, signal) => encode(text, added === 'with added tokens', signal),
      decode: async (tokens, signal) => (await ask('/detokenize', { tokens }, promptSchema, signal)).prompt,
      // /detokenize never leaves out special tokens, but the text of a reply does. So the server is made to sample the id, unless
      // its text shows that it is an ordinary token.
      isSpecial: async (id, text, signal) =>
        !ORDINARY.test(text) && isOnly(id, await encode(text, false, signal)) && (await isLeftOut(id, signal)),
      atOnce: 16,
    }),
    async tokenizeMessages(conversation, signal) {
      return (await ask('/tokenize', conversationFields(conversation), tokensSchema, signal)).tokens
    },
  }
}

/** Matches texts that no special token has: words, spaces, and characters that are cut. */
const ORDINARY = /^[\p{L}\p{N}\s\uFFFD]*$/u
