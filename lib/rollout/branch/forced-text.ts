/** Encodes a text that continues given tokens. */
import { decodedText } from '#lib/rollout/record/retokenize.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import type { BranchObstacle, ForcedIds } from './branch.ts'

/** The ids of a text, or why it has none. */
export type ForcedText =
  | { readonly ok: true; readonly forced: ForcedIds }
  | { readonly ok: false; readonly why: BranchObstacle }

/**
 * Encodes a text whose ids are inserted after other tokens. The ids decode to exactly this text. Special tokens in it become their ids,
 * and no token is added before it.
 */
export function encodeForcedText(text: string, tokenizer: Tokenizer): ForcedText {
  const refused = (detail: string, hint: string): ForcedText => ({
    ok: false,
    why: { code: 'CANNOT_ENCODE', detail, hint, field: 'force' },
  })
  const broken = text.search(/\p{Surrogate}/u)
  if (broken >= 0)
    return refused(
      `the text cannot be encoded: character ${broken} is half of a surrogate pair`,
      'Remove the character, or type ids instead.',
    )
  let characters = 0
  for (const ids of encodings(text, tokenizer)) {
    const decoded = decodedText(ids, tokenizer)
    if (decoded === text && ids.length > 0) return { ok: true, forced: { ids, as: 'text' } }
    characters = Math.max(characters, commonText(decoded, text))
  }
  if (text === '') return refused('the text has no tokens', 'Force a text or ids, or none to sample again.')
  return refused(
    `the text cannot be encoded: the tokenizer ${tokenizer.name} does not keep ${byteAt(text, characters)} at character ${characters}`,
    'Type ids instead.',
  )
}

/** Returns the first byte of a character as a message names it; after the last character, the end of the text. */
function byteAt(text: string, index: number): string {
  const [byte] = new TextEncoder().encode(String.fromCodePoint(...[text.codePointAt(index) ?? []].flat()))
  return byte === undefined ? 'the end of the text' : `byte 0x${byte.toString(16).toUpperCase().padStart(2, '0')}`
}

/** A character that no tokenizer joins with the text after it. */
const ANCHOR = '\n'

/** Yields the ids of a text. SentencePiece puts a space before the first word, so a text after an anchor is tried too. */
function* encodings(text: string, tokenizer: Tokenizer): Generator<number[]> {
  yield tokenizer.encode(text)
  const anchor = tokenizer.encode(ANCHOR)
  const ids = tokenizer.encode(ANCHOR + text)
  if (anchor.every((id, index) => ids[index] === id)) yield ids.slice(anchor.length)
}
