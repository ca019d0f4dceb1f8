import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing/property-runs.ts'
import { fromBase64, toBase64 } from './base64.ts'

test('base64 is that of Node for bytes of any length, and decodes to the same bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100_000, size: 'max' }), (bytes) => {
      const text = Buffer.from(bytes).toString('base64')
      expect(toBase64(bytes)).toBe(text)
      expect(Buffer.from(fromBase64(text)).equals(Buffer.from(bytes))).toBe(true)
    }),
    { numRuns: runs(20) },
  )
})

test('a text that is not base64 is refused', () => {
  expect(() => fromBase64('§')).toThrow()
})
