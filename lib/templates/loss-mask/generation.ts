/**
 * The mask of `{% generation %}` blocks, as transformers makes it (`return_assistant_tokens_mask`), except in one case: if a block ends
 * with a mark that NFC joins to its letter, transformers finds no token and trains to the end of the sequence; here the block ends with the
 * letter's token.
 */

import type { Encoding } from '#lib/rollout/record/offsets.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { ConversationTokens } from './conversation.ts'
import type { MaskedTokens } from './masked-tokens.ts'
import type { TokenRange } from './report.ts'

/** The mask of generation blocks, with the tokens for which it is doubtful. */
export interface GenerationMask extends MaskedTokens {
  readonly hasTag: boolean
  /** Trained tokens that also contain characters outside of their block. */
  readonly merged: readonly TokenRange[]
  /** Tokens of a block that was not found, or that are trained beyond its end, because transformers could not locate one of its ends. */
  readonly unlocated: readonly TokenRange[]
}

/** Computes the mask of the generation blocks of a render. */
export function generationMask({
  rendering,
  encoding,
  parts,
  messages,
  tokenizer,
}: Pick<ConversationTokens, 'rendering' | 'encoding' | 'parts' | 'messages' | 'tokenizer'>): GenerationMask {
  const { ids, starts, ends } = encoding
  const trained = new Array<boolean>(ids.length).fill(false)
  const merged: TokenRange[] = []
  const unlocated: TokenRange[] = []
  for (const { start, end } of rendering.generation) {
    const first = tokenAt(encoding, start)
    const last = tokenAt(encoding, end - 1)
    // transformers leaves the loop here, and with it all later blocks.
    if (first === undefined) {
      if (start < rendering.text.length) unlocated.push({ start: firstFrom(starts, start), end: ids.length })
      break
    }
    // transformers takes a missing last token, and the very first token, for the end of the sequence.
    const stop = last ? last + 1 : ids.length
    if (!last) unlocated.push({ start: first, end: stop })
    trained.fill(true, first, stop)
    for (const token of new Set([first, stop - 1])) {
      const isWider = elementAt(starts, token) < start || (last && elementAt(ends, token) > end)
      if (isWider && token < stop && first < stop) merged.push({ start: token, end: token + 1 })
    }
  }
  return {
    ids,
    bytes: (id) => tokenizer.bytes(id),
    trained,
    parts,
    messages,
    hasTag: rendering.hasGenerationTag,
    merged,
    unlocated,
  }
}

/** Implements `char_to_token`: returns the first token that contains a part of the character; undefined if there is none. */
function tokenAt({ starts, ends }: Encoding, offset: number): number | undefined {
  const token = firstFrom(ends, offset + 1)
  return token < ends.length && elementAt(starts, token) <= offset ? token : undefined
}

/** Returns the index of the first entry that is at least the value, in a list that never falls. */
function firstFrom(sorted: readonly number[], value: number): number {
  return countWhile(sorted.length, (index) => elementAt(sorted, index) < value)
}
