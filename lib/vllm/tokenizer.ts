/** The tokenizer of a vLLM server: /tokenize and /detokenize, one text, conversation or list of ids in each request. */
import * as z from 'zod'
import type { Ask } from '#lib/engine/connection.ts'
import { conversationFields, type ServerTokenizer } from '#lib/engine/tokenizer/server-tokenizer.ts'
import { textFrame } from '#lib/rollout/prompt/raw-prompt.ts'

const tokensSchema = z.looseObject({ tokens: z.array(z.int().min(0)) })
const promptSchema = z.looseObject({ prompt: z.string() })
const textSchema = z.looseObject({ choices: z.array(z.looseObject({ text: z.string() })).min(1) })

/** Requests in flight at the same time. */
const AT_ONCE = 16

/** Creates the tokenizer from a function that posts JSON and one that returns the name of the model. */
export function serverTokenizer(ask: Ask, model: (signal: AbortSignal) => Promise<string>): ServerTokenizer {
  /** Whether an id is a special token. */
  const special = new Map<number, boolean>()
  const encode = async (prompt: string, adds: boolean, signal: AbortSignal): Promise<readonly number[]> =>
    (await ask('/tokenize', { prompt, add_special_tokens: adds }, tokensSchema, signal)).tokens
  const decode = async (tokens: readonly number[], signal: AbortSignal): Promise<string> =>
    tokens.length === 0 ? '' : (await ask('/detokenize', { tokens }, promptSchema, signal)).prompt
  /**
   * /detokenize never leaves out special tokens, but the text of a reply does. So the server is made to sample the id, unless its text
   * shows that it is an ordinary token.
   */
  const isSpecial = async (id: number, signal: AbortSignal): Promise<boolean> => {
    const known = special.get(id)
    if (known !== undefined) return known
    const text = await decode([id], signal)
    const encoded = ORDINARY.test(text) ? [] : await encode(text, false, signal)
    const found = encoded.length === 1 && encoded[0] === id && (await isLeftOut(id, signal))
    special.set(id, found)
    return found
  }
  const isLeftOut = async (id: number, signal: AbortSignal): Promise<boolean> => {
    const forced = { allowed_token_ids: [id], max_tokens: 1, temperature: 0, ignore_eos: true }
    const body = { model: await model(signal), prompt: [id], ...forced, skip_special_tokens: true }
    const { choices } = await ask('/v1/completions', body, textSchema, signal)
    return choices[0]?.text === ''
  }
  return {
    tokenize: (texts, signal) => several(texts, (text) => encode(text, false, signal)),
    async frame(signal) {
      return textFrame(await encode('a', true, signal), await encode('a', false, signal))
    },
    async tokenizeMessages(conversation, signal) {
      return (await ask('/tokenize', conversationFields(conversation), tokensSchema, signal)).tokens
    },
    detokenize: (lists, shown, signal) =>
      several(lists, async (ids) => {
        if (shown === 'with special tokens') return decode(ids, signal)
        const kept: number[] = []
        for (const id of ids) if (!(await isSpecial(id, signal))) kept.push(id)
        return decode(kept, signal)
      }),
  }
}

/** Matches texts that no special token has: words, spaces, and characters that are cut. */
const ORDINARY = /^[\p{L}\p{N}\s\uFFFD]*$/u

/** Returns the results in order. */
async function several<Item, Result>(
  items: readonly Item[],
  result: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let from = 0; from < items.length; from += AT_ONCE)
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(result))))
  return results
}
