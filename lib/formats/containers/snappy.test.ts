import fc from 'fast-check'
import { snappyCompress } from 'hyparquet-writer/src/snappy.js'
import { expect, test } from 'vitest'
import { decompressSnappy } from './snappy.ts'

const roundTrip = (bytes: Uint8Array): Uint8Array => decompressSnappy(snappyCompress(bytes), bytes.length)

test('Any bytes that were compressed are decompressed, also with repetitions and with long literals', () => {
  const repeated = fc
    .tuple(fc.uint8Array({ maxLength: 300 }), fc.nat(4))
    .map(([bytes, times]) => Uint8Array.from(Array.from({ length: times + 1 }, () => [...bytes]).flat()))
  fc.assert(
    fc.property(repeated, (bytes) => {
      expect(roundTrip(bytes)).toEqual(bytes)
    }),
  )
  const long = Uint8Array.from({ length: 70_000 }, (_, index) => (index * index) >>> 7)
  expect(roundTrip(long)).toEqual(long)
})

test('Copies with an offset of four bytes are read', () => {
  const copied = Uint8Array.of(6, 2 << 2, 97, 98, 99, (2 << 2) | 3, 3, 0, 0, 0)
  expect(new TextDecoder().decode(decompressSnappy(copied, 6))).toBe('abcabc')
})

test('A literal beyond the end is refused: the library would not end for one of more than 2 GiB', () => {
  const literal = Uint8Array.of(5, 63 << 2, 0xfa, 0xff, 0xff, 0xff)
  expect(() => decompressSnappy(literal, 5)).toThrow('a Snappy literal beyond the end of its page')
})
