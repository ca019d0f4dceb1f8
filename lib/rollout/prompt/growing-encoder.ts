/**
 * Encodes texts that mostly begin like the previous one, such as the prompts of a conversation. The text before a
 * cutting token, such as `<|im_start|>`, has the same ids whatever follows, so only the rest is encoded. All prompts of
 * a conversation of n tokens in m calls take n steps of the tokenizer instead of n × m. The text is divided into pieces, which end with a cut
 * and were encoded alone, so that only the last piece is searched for the next cut.
 */

import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'

/** Returns a function that gives the same ids as `tokenizer.encode`. */
export function growingEncoder(tokenizer: Tokenizer): (text: string) => readonly number[] {
  const { cuttingText, longest } = cuttingTokens(tokenizer)
  let before: EncodedText = { text: '', ids: [] }
  /** Where the pieces of the previous text begin. */
  const starts: Place[] = [BEGINNING]
  return (text) => {
    const shared = commonText(before.text, text) - longest
    let end: Place = { text: before.text.length, ids: before.ids.length }
    let start = lastOf(starts)
    while (start.text > shared && starts.length > 1) {
      end = start
      starts.pop()
      start = lastOf(starts)
    }
    const piece = { text: before.text.slice(start.text, end.text), ids: before.ids.slice(start.ids, end.ids) }
    const cut = lastCut(piece, shared - start.text, cuttingText)
    if (cut) {
      start = { text: start.text + cut.text, ids: start.ids + cut.ids }
      starts.push(start)
    }
    before = { text, ids: before.ids.slice(0, start.ids).concat(tokenizer.encode(text.slice(start.text))) }
    return before.ids
  }
}

interface EncodedText {
  readonly text: string
  readonly ids: readonly number[]
}

/** A place in a text, in characters and in ids. */
interface Place {
  readonly text: number
  readonly ids: number
}

const BEGINNING: Place = { text: 0, ids: 0 }
const lastOf = (places: readonly Place[]): Place => elementAt(places, places.length - 1)

/** Returns the end of the last cut within the first `end` characters; undefined if there is none. */
function lastCut(
  { text, ids }: EncodedText,
  end: number,
  cuttingText: (id: number) => string | undefined,
): Place | undefined {
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
