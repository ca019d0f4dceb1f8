import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { knownBytes, retokenize } from './retokenize.ts'

/** Puts a space before the first word, as SentencePiece does; a byte is a token otherwise. */
const spacing: Tokenizer = { ...byteTokenizer, encode: (text) => byteTokenizer.encode(` ${text}`) }

test('retokenized returns the same ids for text that the tokenizer encoded', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      for (const tokenizer of [byteTokenizer, spacing])
        expect(retokenize(tokenizer.encode(text), tokenizer)).toEqual(tokenizer.encode(text))
    }),
  )
})

test('retokenized returns an added token as itself, also if it was spelled out', () => {
  const call = byteId('<tool_call>')
  const letters = Array.from(new TextEncoder().encode('<tool_call>'))
  expect(retokenize([call, 97, ...letters], byteTokenizer)).toEqual([call, 97, call])
})

test('retokenized replaces bytes that are not a character by U+FFFD, also half a character at the end', () => {
  const unknown = [0xef, 0xbf, 0xbd]
  expect(retokenize(Int32Array.of(97, 0xff, 98, 0xe2, 0x82), byteTokenizer)).toEqual([97, ...unknown, 98, ...unknown])
})

test('retokenized removes only the space that the tokenizer itself adds first', () => {
  expect(retokenize([32, 97], byteTokenizer)).toEqual([32, 97])
  expect(retokenize([97], spacing)).toEqual([32, 97])
  expect(retokenize([], { ...spacing, encode: () => [] })).toEqual([])
})

test('knownBytes requests the bytes of an id once', () => {
  let asked = 0
  const bytes = knownBytes({ ...byteTokenizer, bytes: (id) => byteTokenizer.bytes(id + asked++) })
  expect([bytes(97), bytes(97)]).toEqual([Uint8Array.of(97), Uint8Array.of(97)])
})
