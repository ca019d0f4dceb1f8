/** A tokenizer of a server that takes one text or one list of ids in each request, and never says which ids are special. */
import { textFrame } from '#lib/rollout/prompt/raw-prompt.ts'
import type { ServerTokenizer } from './server-tokenizer.ts'

/** The requests of an engine. */
export interface SingleRequests {
  /** Returns the ids of a text, with the tokens that the server adds by default, or without. */
  readonly encode: (
    text: string,
    added: 'with added tokens' | 'without added tokens',
    signal: AbortSignal,
  ) => Promise<readonly number[]>
  /** Returns the text of ids, of which there is at least one. */
  readonly decode: (ids: readonly number[], signal: AbortSignal) => Promise<string>
  /** Returns whether an id is a special token. `text` is its text. */
  readonly isSpecial: (id: number, text: string, signal: AbortSignal) => Promise<boolean>
  /** Largest number of requests at the same time. */
  readonly atOnce: number
}

/** Returns the tokenizer without the rendering of conversations. */
export function singleRequestTokenizer({
  encode,
  decode,
  isSpecial,
  atOnce,
}: SingleRequests): Omit<ServerTokenizer, 'tokenizeMessages'> {
  const special = new Map<number, boolean>()
  const textOf = async (ids: readonly number[], signal: AbortSignal): Promise<string> =>
    ids.length === 0 ? '' : decode(ids, signal)
  const isLeftOut = async (id: number, signal: AbortSignal): Promise<boolean> => {
    const known = special.get(id)
    if (known !== undefined) return known
    const found = await isSpecial(id, await decode([id], signal), signal)
    special.set(id, found)
    return found
  }
  return {
    tokenize: (texts, signal) => mapSome(texts, atOnce, (text) => encode(text, 'without added tokens', signal)),
    async frame(signal) {
      const whole = await encode('a', 'with added tokens', signal)
      return textFrame(whole, await encode('a', 'without added tokens', signal))
    },
    detokenize: (lists, shown, signal) =>
      mapSome(lists, atOnce, async (ids) => {
        if (shown === 'with special tokens') return textOf(ids, signal)
        const writtenIds: number[] = []
        for (const id of ids) if (!(await isLeftOut(id, signal))) writtenIds.push(id)
        return textOf(writtenIds, signal)
      }),
  }
}

/** Returns whether ids are one id alone. */
export const isOnly = (id: number, ids: readonly number[]): boolean => ids.length === 1 && ids[0] === id

/** Returns the results in order. At most `atOnce` of them are computed at the same time. */
async function mapSome<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  resultOf: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (let from = 0; from < items.length; from += atOnce)
    results.push(...(await Promise.all(items.slice(from, from + atOnce).map(resultOf))))
  return results
}
