/** The tokenizer of a llama.cpp server: /tokenize, /detokenize and /apply-template, one text or list of ids in each request. */
import * as z from 'zod'
import type { Ask } from '#lib/engine/connection.ts'
import { conversationFields, type ServerTokenizer } from '#lib/engine/tokenizer/server-tokenizer.ts'
import { textFrame } from '#lib/rollout/prompt/raw-prompt.ts'

const tokensSchema = z.looseObject({ tokens: z.array(z.int().min(0)) })
const contentSchema = z.looseObject({ content: z.string() })
const promptSchema = z.looseObject({ prompt: z.string() })

/** Creates the tokenizer from a function that posts JSON. */
export function serverTokenizer(ask: Ask): ServerTokenizer {
  /** Whether an id is a special token; the server only shows it by encoding its text with and without them. */
  const special = new Map<number, boolean>()
  const encode = async (content: string, options: object, signal: AbortSignal): Promise<readonly number[]> =>
    (await ask('/tokenize', { content, add_special: false, parse_special: true, ...options }, tokensSchema, signal))
      .tokens
  const decode = async (tokens: readonly number[], signal: AbortSignal): Promise<string> =>
    tokens.length === 0 ? '' : (await ask('/detokenize', { tokens }, contentSchema, signal)).content
  const isSpecial = async (id: number, signal: AbortSignal): Promise<boolean> => {
    const known = special.get(id)
    if (known !== undefined) return known
    const text = await decode([id], signal)
    const isAlone = (ids: readonly number[]): boolean => ids.length === 1 && ids[0] === id
    const found =
      isAlone(await encode(text, {}, signal)) && !isAlone(await encode(text, { parse_special: false }, signal))
    special.set(id, found)
    return found
  }
  return {
    tokenize: (texts, signal) => eachInTurn(texts, (text) => encode(text, {}, signal)),
    async frame(signal) {
      return textFrame(await encode('a', { add_special: true }, signal), await encode('a', {}, signal))
    },
    async tokenizeMessages(conversation, signal) {
      const json = conversationFields(conversation)
      return encode((await ask('/apply-template', json, promptSchema, signal)).prompt, {}, signal)
    },
    detokenize: (lists, shown, signal) =>
      eachInTurn(lists, async (ids) => {
        if (shown === 'with special tokens') return decode(ids, signal)
        const kept: number[] = []
        for (const id of ids) if (!(await isSpecial(id, signal))) kept.push(id)
        return decode(kept, signal)
      }),
  }
}

/** Returns the results in order. Requests follow one another, because the server answers them in one thread. */
async function eachInTurn<Item, Result>(
  items: readonly Item[],
  result: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await result(item))
  return results
}
