import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeUtf8 } from './utf8.ts'

test.each<[string, readonly number[], number]>([
  ['a byte that begins no character', [0x61, 0xff], 1],
  ['a character that is cut off', [0x61, 0xe2, 0x82, 0x28], 1],
  ['a character that is cut off at the end', [0x61, 0x62, 0xef, 0xbf], 2],
  ['an error after U+FFFD', [0xef, 0xbf, 0xbd, 0xc3, 0xa9, 0x80], 5],
  ['an error after a byte order mark', [0xef, 0xbb, 0xbf, 0x61, 0xc0, 0x80], 4],
  ['a surrogate', [0xed, 0xa0, 0x80], 0],
])('decodeUtf8 finds the first wrong byte of %s', (_what, bytes, at) => {
  expect(decodeUtf8(Uint8Array.from(bytes))).toEqual({ ok: false, at })
})

test('decodeUtf8 decodes any text, and finds a wrong byte in any place of it', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.oneof(fc.constant('\uFFFD'), fc.string({ unit: 'binary' })) }), (text) => {
      const bytes = new TextEncoder().encode(text)
      expect(decodeUtf8(bytes)).toEqual({ ok: true, text: text.replace(/^\uFEFF/, '') })
      expect(decodeUtf8(Uint8Array.of(...bytes, 0xff, ...bytes))).toEqual({ ok: false, at: bytes.length })
    }),
  )
})
