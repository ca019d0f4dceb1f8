/**
 * A first prompt that the user gave as text or as ids, without a template. A text is encoded with the tokens that the
 * tokenizer adds to texts, as SGLang does with `text`; ids are sent unchanged.
 */

import type { TextFrame, Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { Problem } from '#lib/trajectory/format/trajectory.ts'
import { textWithStarts, tokensAt, vocabEntry } from '#lib/trajectory/tokens/pieces.ts'
import { commonText } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { Prompt } from './prompt.ts'

/** A prompt that the user gave without messages. */
export type RawPrompt =
  | { readonly kind: 'text'; readonly text: string }
  /** `text` is the claimed text of the ids. If it differs, the ids are used. */
  | { readonly kind: 'ids'; readonly ids: readonly number[]; readonly text?: string }

/** The prompt, or the reason why it cannot be sent. */
export type EncodedRawPrompt =
  | { readonly kind: 'prompt'; readonly prompt: Prompt }
  /** A text without tokens. */
  | { readonly kind: 'empty' }
  /** An id that the tokenizer does not have; `index` is its position in the ids. */
  | { readonly kind: 'unknown-id'; readonly id: number; readonly index: number }

/** Encodes the prompt. `frame` has the tokens that the tokenizer adds to texts. */
export function encodeRawPrompt(rawPrompt: RawPrompt, tokenizer: Tokenizer, frame: TextFrame): EncodedRawPrompt {
  if (rawPrompt.kind === 'text') return textPrompt(rawPrompt.text, tokenizer, frame)
  const index = rawPrompt.ids.findIndex((id) => id >= tokenizer.vocabularySize)
  if (index >= 0) return { kind: 'unknown-id', id: elementAt(rawPrompt.ids, index), index }
  const problems = rawPrompt.text === undefined ? [] : otherText(rawPrompt.ids, rawPrompt.text, tokenizer, frame)
  return { kind: 'prompt', prompt: { ids: rawPrompt.ids, derivation: { kind: 'given', what: 'ids' }, problems } }
}

/** Returns the tokens around a text's own ids in `framed`; none if the ids do not occur in it. */
export function textFrame(framed: readonly number[], plain: readonly number[]): TextFrame {
  for (let at = 0; at + plain.length <= framed.length; at++)
    if (plain.every((id, index) => framed[at + index] === id))
      return { before: framed.slice(0, at), after: framed.slice(at + plain.length) }
  return { before: [], after: [] }
}

function textPrompt(text: string, tokenizer: Tokenizer, { before, after }: TextFrame): EncodedRawPrompt {
  const own = tokenizer.encode(text)
  const ids = [...before, ...own, ...after]
  if (ids.length === 0) return { kind: 'empty' }
  const problems: Problem[] = []
  if (before.length > 0) {
    const isTwice = before.every((id, index) => own[index] === id)
    const added = `The tokenizer put ${decodeIds(before, tokenizer)} before the text, as before every text.`
    const twice = isTwice ? ' The text begins with the same token, so it occurs twice: remove it from the text.' : ''
    problems.push({ kind: 'given', message: `${added}${twice}`, index: 0 })
  }
  if (after.length > 0)
    problems.push({
      kind: 'given',
      message: `The tokenizer put ${decodeIds(after, tokenizer)} after the text, as after every text. To omit it, send ids.`,
      index: before.length + own.length,
    })
  return { kind: 'prompt', prompt: { ids, derivation: { kind: 'given', what: 'text' }, problems } }
}

/** Returns a note if the text differs from the decoded ids, with or without the tokens that the tokenizer adds. */
function otherText(
  ids: readonly number[],
  text: string,
  tokenizer: Tokenizer,
  { before, after }: TextFrame,
): Problem[] {
  const vocab = Object.fromEntries([...new Set(ids)].map((id) => [id, vocabEntry(tokenizer.bytes(id))]))
  const whole = textWithStarts(ids, vocab)
  if (whole.text === text || whole.text === `${decodeIds(before, tokenizer)}${text}${decodeIds(after, tokenizer)}`)
    return []
  const at = commonText(whole.text, text)
  const index = Math.min(ids.length - 1, tokensAt(whole, at, at + 1).start)
  return [
    {
      kind: 'given',
      message: `The given text differs from the decoded ids from character ${at}. The ids were sent.`,
      index,
      raw: text,
    },
  ]
}

function decodeIds(ids: readonly number[], tokenizer: Tokenizer): string {
  const vocab = Object.fromEntries(ids.map((id) => [id, vocabEntry(tokenizer.bytes(id))]))
  return textWithStarts(ids, vocab).text
}
