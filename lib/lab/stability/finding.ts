/** What a cell shows where the two sides differ. */
import { vocabEntry } from '#lib/core/pieces.ts'
import type { Tokenizer } from '#lib/tito/tokenizer.ts'
import { type Case, causeOf, lostMessages, placeOf, remedyFor } from './cause.ts'
import { joined } from './compare.ts'
import type { Finding, TokenWindow } from './report.ts'

/** Undefined where the two sides agree and every new message is there. `messages`: turn n+1 as JSON. */
export function findingOf(subject: Case, tokenizer: Tokenizer, messages: () => string): Finding | undefined {
  const { tokenIndex } = subject.comparison
  if (tokenIndex !== undefined) return findingAt(tokenIndex, subject, tokenizer, messages())
  const lost = lostMessages(subject)
  if (!lost) return undefined
  const { rendered } = subject.comparison
  const side = joined(tokenizer, [lost.wanted])
  let at = 0
  while (side.ids[at] === rendered.ids[at]) at++
  const expected = { ...subject.comparison.expected, ...side }
  const wanted = { ...subject, comparison: { ...subject.comparison, expected } }
  return { ...findingAt(at, wanted, tokenizer, messages()), cause: lost.cause, remedy: remedyFor(lost.cause) }
}

/** The same for a first difference that is known; order and presence of new messages are not looked at. */
export function findingAt(tokenIndex: number, subject: Case, tokenizer: Tokenizer, messages: string): Finding {
  const { expected, rendered } = subject.comparison
  const place = placeOf(subject.comparison, tokenIndex)
  const cause = causeOf(subject, place)
  return {
    tokenIndex,
    expected: windowAround(expected.ids, tokenIndex, tokenizer),
    rendered: windowAround(rendered.ids, tokenIndex, tokenizer),
    line: place.line,
    expectedLine: place.expectedLine,
    message: place.message,
    cause,
    remedy: remedyFor(cause),
    messages,
  }
}

/** Tokens shown before and after the first difference. */
const BEFORE = 12
const AFTER = 28

function windowAround(ids: readonly number[], at: number, tokenizer: Tokenizer): TokenWindow {
  const start = Math.max(0, at - BEFORE)
  return {
    start,
    tokens: ids.slice(start, at + AFTER).map((id) => ({ id, piece: vocabEntry(tokenizer.bytes(id)) })),
    length: ids.length,
  }
}
