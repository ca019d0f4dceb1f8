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
      'Remove the character, or force ids instead.',
    )
  let decoded = ''
  for (const ids of encodings(text, tokenizer)) {
    decoded = decodedText(ids, tokenizer)
    if (decoded === text && ids.length > 0) return { ok: true, forced: { ids, as: 'text' } }
  }
  if (text === '') return refused('the text has no tokens', 'Force a text or ids, or none to sample again.')
  return refused(
    `the tokenizer ${tokenizer.name} does not keep the text: it reads another one from character ${commonText(decoded, text)}`,
    'Force ids instead.',
  )
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
