/** Findings of cells whose two sides differ. */

import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { vocabEntry } from '#lib/trajectory/tokens/pieces.ts'
import { causeOf, type DifferenceCase, findMissingMessages, locateFirstDifference, remedyFor } from './cause.ts'
import { renderParts } from './compare.ts'
import type { CellFinding, TokenWindow } from './report.ts'
import { isTextTokenizer } from './text-tokenizer.ts'

/** Returns the finding; undefined if the two sides agree and every new message is present. `messages` returns turn n+1 as JSON. */
export function describeBreak(
  subject: DifferenceCase,
  tokenizer: Tokenizer,
  messages: () => string,
): CellFinding | undefined {
  const { tokenIndex } = subject.comparison
  if (tokenIndex !== undefined) return findingAt(tokenIndex, subject, tokenizer, messages())
  const missing = findMissingMessages(subject)
  if (!missing) return undefined
  const { rendered } = subject.comparison
  const side = renderParts(tokenizer, [missing.wanted])
  let at = 0
  while (side.ids[at] === rendered.ids[at]) at++
  const expected = { ...subject.comparison.expected, ...side }
  const wanted = { ...subject, comparison: { ...subject.comparison, expected } }
  const finding = findingAt(at, wanted, tokenizer, messages())
  const lines = missing.cause.kind === 'message-dropped' && { line: undefined, expectedLine: undefined }
  return { ...finding, ...lines, textDiffers: true, cause: missing.cause, remedy: remedyFor(missing.cause) }
}

/** Returns the finding for a known first difference. Order and presence of new messages are not checked. */
export function findingAt(
  tokenIndex: number,
  subject: DifferenceCase,
  tokenizer: Tokenizer,
  messages: string,
): CellFinding {
  const { expected, rendered } = subject.comparison
  const place = locateFirstDifference(subject.comparison, tokenIndex)
  const cause = causeOf(subject, place)
  return {
    tokenIndex,
    expected: windowAround(expected.ids, tokenIndex, tokenizer),
    rendered: windowAround(rendered.ids, tokenIndex, tokenizer),
    // No line writes a message that is missing.
    line: cause.kind === 'message-dropped' ? undefined : place.line,
    expectedLine: cause.kind === 'message-dropped' ? undefined : place.expectedLine,
    message: place.message,
    cause,
    remedy: remedyFor(cause),
    textDiffers: subject.comparison.textDiffers,
    messages,
  }
}

/** Numbers of tokens that are shown before and after the first difference. */
const BEFORE = 12
const AFTER = 28
const CHARACTERS_PER_TOKEN = 4

/** Returns the tokens around an index; in text mode, four times as many characters. */
export function windowAround(ids: readonly number[], at: number, tokenizer: Tokenizer): TokenWindow {
  const scale = isTextTokenizer(tokenizer) ? CHARACTERS_PER_TOKEN : 1
  const start = Math.max(0, at - BEFORE * scale)
  return {
    start,
    tokens: ids.slice(start, at + AFTER * scale).map((id) => ({ id, piece: vocabEntry(tokenizer.bytes(id)) })),
    length: ids.length,
  }
}
