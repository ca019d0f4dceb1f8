import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runToEnd } from '#lib/tasks/task.ts'
import type { Vocab } from '#lib/trajectory/format/trajectory.ts'
import { textWithStarts, tokensAt } from '#lib/trajectory/tokens/pieces.ts'
import { rangeWriter } from './ranges.ts'
import { patternHits, textHits } from './text-hits.ts'

/** Words, a line end, an empty token, a character in three tokens of one byte each, and its first byte after a space. */
const VOCAB: Vocab = {
  ...{ 0: 'ab', 1: 'b', 2: ' a', 3: '\n', 4: '', 5: { hex: 'e6' }, 6: { hex: '97' }, 7: { hex: 'a5' } },
  8: { hex: '20e6' },
}

const tokens = fc
  .array(
    fc.oneof(
      fc.nat({ max: 4 }).map((id) => [id]),
      fc.constantFrom([5, 6, 7], [8, 6, 7]),
      fc.constantFrom([5], [7]),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.flat())

test('hits of a text or a regular expression are the tokens that tokensAt returns for each match', () => {
  fc.assert(
    fc.property(tokens, fc.constantFrom('a', 'b', 'ab', 'b a', '日', '日a', '\ufffd', '\n'), (ids, text) => {
      const written = textWithStarts(ids, VOCAB)
      const { text: all, starts, ends } = written
      const columns = { starts: Int32Array.from(starts), ends: ends && Int32Array.from(ends) }
      const index = { text: all, folded: all, ...columns }
      const expected = rangeWriter()
      for (const { index: from } of written.text.matchAll(new RegExp(text, 'g'))) {
        const { start, end } = tokensAt(written, from, from + text.length)
        expected.add(start, end)
      }
      expect(runToEnd(textHits({ kind: 'text', text, isExact: true }, index))).toEqual(expected.written())
      const pattern = new RegExp(text, 'g')
      expect(runToEnd(patternHits({ kind: 'pattern', pattern }, index))).toEqual(expected.written())
    }),
  )
})
