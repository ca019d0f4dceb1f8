/**
 * Encodes texts that mostly begin like the previous one, such as the prompts of a conversation. The text before a
 * cutting token, such as `<|im_start|>`, has the same ids whatever follows, so only the rest is encoded. All prompts of
 * a conversation of n tokens in m calls take n steps of the tokenizer instead of n × m.
 */

import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'

/** Returns a function that gives the same ids as `tokenizer.encode`. */
export function growingEncoder(tokenizer: Tokenizer): (text: string) => readonly number[] {
  const { cuttingText, longest } = cuttingTokens(tokenizer)
  let before: { readonly text: string; readonly ids: readonly number[] } | undefined
  return (text) => {
    const start = before && lastCut(before, commonText(before.text, text) - longest, cuttingText)
    const ids =
      before && start
        ? before.ids.slice(0, start.ids).concat(tokenizer.encode(text.slice(start.text)))
        : tokenizer.encode(text)
    before = { text, ids }
    return ids
  }
}

/** Returns the end of the last cut within the first `end` characters, in ids and in characters; undefined if there is none. */
function lastCut(
  { text, ids }: { readonly text: string; readonly ids: readonly number[] },
  end: number,
  cuttingText: (id: number) => string | undefined,
): { readonly ids: number; readonly text: number } | undefined {
  const id = ids.findLast((each) => cuttingText(each) !== undefined)
  const content = id === undefined ? undefined : cuttingText(id)
  if (content === undefined) return undefined
  const places: number[] = []
  for (let at = text.indexOf(content); at >= 0; at = text.indexOf(content, at + content.length)) places.push(at)
  const tokens = ids.flatMap((each, index) => (each === id ? index : []))
  // Another token may contain the same characters.
  if (tokens.length !== places.length) return undefined
  const last = places.findLastIndex((at) => at + content.length <= end)
  const [place, token] = [places[last], tokens[last]]
  return place === undefined || token === undefined ? undefined : { ids: token + 1, text: place + content.length }
}

/** Finds the added tokens after which a text is encoded as if it began there, and the length of the longest added token. */
const cuttingTokens = memoizeByIdentity((tokenizer: Tokenizer) => {
  const contents = new Map(tokenizer.addedTokens.map(({ id, content }) => [id, content]))
  const known = new Map<number, boolean>()
  const cuttingText = (id: number): string | undefined => {
    const content = contents.get(id)
    if (!content) return undefined
    const isCutting = known.get(id) ?? cuts(tokenizer, content)
    known.set(id, isCutting)
    return isCutting ? content : undefined
  }
  return { cuttingText, longest: Math.max(0, ...Array.from(contents.values(), ({ length }) => length)) }
})

/** Texts that reveal tokenizers which insert a space before the first word, and tokens which take the spaces around them. */
const FOLLOWING = ['b', ' b', '\nb', '  b', '\n\n', 'é한', '1'] as const

function cuts(tokenizer: Tokenizer, content: string): boolean {
  const head = tokenizer.encode(`a ${content}`)
  return FOLLOWING.every((rest) => {
    const whole = tokenizer.encode(`a ${content}${rest}`)
    return `${whole}` === `${[...head, ...tokenizer.encode(rest)]}`
  })
}
