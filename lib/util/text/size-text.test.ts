import { expect, test } from 'vitest'
import { sizeText } from './size-text.ts'

test.each([
  [0, '0 kB'],
  [34_400, '34 kB'],
  [3_440_000, '3.4 MB'],
  [1_240_000_000, '1.2 GB'],
])('sizeText writes %i bytes as %s', (bytes, text) => {
  expect(sizeText(bytes)).toBe(text)
})
