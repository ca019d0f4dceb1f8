import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { byteId, byteTokenizer } from '#testing/byte-tokenizer.ts'
import { knownBytes, retokenized } from './retokenize.ts'

/** Puts a space before the first word, as SentencePiece does; a byte is a token otherwise. */
const spacing: Tokenizer = { ...byteTokenizer, encode: (text) => byteTokenizer.encode(` ${text}`) }

test('what a tokenizer has encoded comes back the same', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      for (const tokenizer of [byteTokenizer, spacing])
        expect(retokenized(tokenizer.encode(text), tokenizer)).toEqual(tokenizer.encode(text))
    }),
  )
})

test('an added token comes back as itself, and so does one that was spelled out', () => {
  const call = byteId('<tool_call>')
  const letters = Array.from(new TextEncoder().encode('<tool_call>'))
  expect(retokenized([call, 97, ...letters], byteTokenizer)).toEqual([call, 97, call])
})

test('bytes that are no character become U+FFFD, the half of one at the end too', () => {
  const unknown = [0xef, 0xbf, 0xbd]
  expect(retokenized(Int32Array.of(97, 0xff, 98, 0xe2, 0x82), byteTokenizer)).toEqual([97, ...unknown, 98, ...unknown])
})

test('only the space that the tokenizer itself puts first is taken away', () => {
  expect(retokenized([32, 97], byteTokenizer)).toEqual([32, 97])
  expect(retokenized([97], spacing)).toEqual([32, 97])
  expect(retokenized([], { ...spacing, encode: () => [] })).toEqual([])
})

test('the bytes of an id are asked for once', () => {
  let asked = 0
  const bytes = knownBytes({ ...byteTokenizer, bytes: (id) => byteTokenizer.bytes(id + asked++) })
  expect([bytes(97), bytes(97)]).toEqual([Uint8Array.of(97), Uint8Array.of(97)])
})
