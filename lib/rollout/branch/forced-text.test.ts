import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { encodeForcedText } from './forced-text.ts'

const why = (text: string, tokenizer = byteTokenizer) => {
  const result = encodeForcedText(text, tokenizer)
  return result.ok ? result.forced.ids : result.why.detail
}

/** A tokenizer that puts a space before the first word, as SentencePiece does. */
const spacing: Tokenizer = {
  ...byteTokenizer,
  name: 'spacing',
  encode: (text) => byteTokenizer.encode(text === '' || text.startsWith('\n') ? text : ` ${text}`),
}

/** A tokenizer that writes all letters in lower case. */
const lowering: Tokenizer = {
  ...byteTokenizer,
  name: 'lowering',
  encode: (text) => byteTokenizer.encode(text.toLowerCase()),
}

test('A forced text has the ids that decode to it, for any text and for a tokenizer that puts a space first', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      fc.pre(text.isWellFormed())
      expect(why(text)).toEqual(byteTokenizer.encode(text))
      expect(why(text, spacing)).toEqual(byteTokenizer.encode(text))
    }),
  )
})

test('Special tokens in a forced text become their ids', () => {
  expect(why('</think>')).toEqual([byteId('</think>')])
})

test('A forced text that cannot be encoded is refused with the character', () => {
  expect(why('ab\ud800c')).toBe('the text cannot be encoded: character 2 is half of a surrogate pair')
  expect(why('')).toBe('the text has no tokens')
  const lost = (text: string, tokenizer: Tokenizer) =>
    String(why(text, tokenizer)).replace('the text cannot be encoded: the tokenizer ', '')
  expect(lost('abC', lowering)).toBe('lowering does not keep byte 0x43 at character 2')
  expect(lost('aé', { ...lowering, encode: () => byteTokenizer.encode('a') })).toContain('byte 0xC3 at character 1')
  expect(lost('a\n', { ...lowering, encode: () => byteTokenizer.encode('a') })).toContain('byte 0x0A at character 1')
  const adding: Tokenizer = { ...byteTokenizer, name: 'adding', encode: (text) => byteTokenizer.encode(`${text}!`) }
  expect(lost('ab', adding)).toBe('adding does not keep the end of the text at character 2')
})
