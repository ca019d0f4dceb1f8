import { expect, test } from 'vitest'
import { pieceBytes } from './piece-bytes.ts'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

test('the bytes of a byte-level piece are those of its characters in the table of GPT-2', () => {
  const bytes = pieceBytes({ type: 'ByteLevel' })
  expect(text(bytes('Ġa'))).toBe(' a')
  expect([...bytes('Ã')]).toEqual([0xc3])
  // No byte has this character.
  expect(text(bytes('日'))).toBe('日')
})

test('a decoder with a byte-level step is byte-level', () => {
  const bytes = pieceBytes({ type: 'Sequence', decoders: [{ type: 'Fuse' }, { type: 'ByteLevel' }] })
  expect(text(bytes('Ċ'))).toBe('\n')
})

test.each([
  [undefined],
  [null],
  ['ByteLevel'],
  [{ kind: 'ByteLevel' }],
  [{ type: 'Sequence', decoders: [{ type: 'Replace' }, { type: 'ByteFallback' }] }],
])('the pieces of the decoder %j are those of SentencePiece', (decoder) => {
  const bytes = pieceBytes(decoder)
  expect(text(bytes('▁a▁b'))).toBe(' a b')
  expect([...bytes('<0xE4>')]).toEqual([0xe4])
  expect(text(bytes('<0xE4'))).toBe('<0xE4')
})

test('an unknown piece has no bytes', () => {
  expect(pieceBytes({ type: 'ByteLevel' })(undefined)).toEqual(new Uint8Array())
})
