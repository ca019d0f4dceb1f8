import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Vocabulary } from '#lib/builtin-server/models/vocabulary.ts'
import { runs } from '#testing/property-runs.ts'
import { anyText } from '#testing/strings.ts'
import { createOutputText, type OutputText } from './output-text.ts'

const RULES = { stopTexts: [], stopPatterns: [], keepsStop: false, showsSpecialTokens: true }

/** Returns a vocabulary in which the given pieces are the ids 0, 1, 2 …; no two ids share their bytes. */
function vocabularyOf(pieces: readonly Uint8Array[], specialIds: readonly number[] = []): Vocabulary {
  let end = 0
  const ends = Uint32Array.from(pieces, ({ length }) => (end += length))
  return { bytes: Uint8Array.from(pieces.flatMap((piece) => [...piece])), ends, specialIds: new Set(specialIds) }
}

const texts = (...pieces: readonly string[]) => pieces.map((piece) => new TextEncoder().encode(piece))

/** A text and one way to cut its bytes into tokens. */
const cutTexts = (unit: fc.Arbitrary<string>) =>
  fc
    .tuple(
      fc.string({ unit, minLength: 1, maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 80, maxLength: 80 }),
    )
    .map(([text, lengths]) => {
      const bytes = new TextEncoder().encode(text)
      const pieces: Uint8Array[] = []
      let from = 0
      for (const length of lengths) {
        if (from < bytes.length) pieces.push(bytes.slice(from, from + length))
        from += length
      }
      return { text, pieces }
    })

/** Returns the text that is sent after each token until one ends it, by the rules of a stream. */
function sent(
  output: OutputText,
  ids: readonly number[],
): { parts: string[]; count: number; stop: string | undefined } {
  const parts: string[] = []
  for (const [index, id] of ids.entries()) {
    const stop = output.read(id)
    output.show(id)
    if (stop !== undefined || index === ids.length - 1)
      return { parts: [...parts, output.end(stop)], count: index + 1, stop }
    if (!output.isHeld()) parts.push(output.take())
  }
  return { parts, count: 0, stop: undefined }
}

describe('Text that arrives in pieces of bytes', () => {
  test('joins to the whole text, and no piece ends inside a character', () => {
    const unit = fc.oneof(anyText({ minLength: 1, maxLength: 1 }), fc.constantFrom('é', '日', '🙂', '\uFEFF'))
    fc.assert(
      fc.property(cutTexts(unit), ({ text, pieces }) => {
        const { parts } = sent(createOutputText(vocabularyOf(pieces), RULES), [...pieces.keys()])
        expect(parts.join('')).toBe(text.toWellFormed())
        for (const part of parts) expect(part.isWellFormed()).toBe(true)
      }),
      { numRuns: runs(300) },
    )
  })

  test('ends with U+FFFD if it ends inside a character', () => {
    const [smile] = texts('🙂') as [Uint8Array]
    const output = createOutputText(vocabularyOf([...texts('a'), smile.slice(0, 3)]), RULES)
    expect(sent(output, [0, 1]).parts).toEqual(['a', '\uFFFD'])
  })
})

describe('A stop text', () => {
  test('ends the text with the token that completes it, and no part of it is ever sent', () => {
    const stops = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'é'), minLength: 1, maxLength: 4 }), {
      minLength: 1,
      maxLength: 3,
    })
    fc.assert(
      fc.property(cutTexts(fc.constantFrom('a', 'b', 'é')), stops, ({ text, pieces }, stopTexts) => {
        const output = createOutputText(vocabularyOf(pieces), { ...RULES, stopTexts })
        const { parts, count, stop } = sent(output, [...pieces.keys()])
        const beginning = (length: number) =>
          new TextDecoder().decode(Uint8Array.from(pieces.slice(0, length).flatMap((piece) => [...piece])), {
            stream: true,
          })
        const first = pieces.findIndex((_, index) => stopTexts.some((wanted) => beginning(index + 1).includes(wanted)))
        if (first < 0) {
          expect([stop, parts.join('')]).toEqual([undefined, text])
        } else {
          expect(count).toBe(first + 1)
          expect(stop).toBe(stopTexts.find((wanted) => beginning(count).includes(wanted)))
          expect(parts.join('')).toBe(text.slice(0, text.indexOf(stop as string)))
        }
      }),
      { numRuns: runs(300) },
    )
  })

  test('may be a hidden special token, for which nothing is cut', () => {
    const vocabulary = vocabularyOf(texts('a', '<end>', '<'), [1])
    const rules = { ...RULES, stopTexts: ['<end>'], showsSpecialTokens: false }
    expect(sent(createOutputText(vocabulary, rules), [0, 2, 1])).toEqual({ parts: ['a', '<'], count: 3, stop: '<end>' })
  })

  test('that is empty ends the text after one token and cuts nothing', () => {
    const output = createOutputText(vocabularyOf(texts('a', 'b')), { ...RULES, stopTexts: [''] })
    expect(sent(output, [0, 1])).toEqual({ parts: ['a'], count: 1, stop: '' })
  })
})
