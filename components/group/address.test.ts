import { expect, test } from 'vitest'
import { pinnedText, readKeys, readPinned } from './address.ts'

test('an address names a pinned token by the number of its sample and its index', () => {
  const pinned = { sample: 0, token: 211 }
  expect(pinnedText(pinned)).toBe('1.211')
  expect(readPinned('1.211')).toEqual(pinned)
  for (const text of ['', '0.211', '1', '1.', '1.-2', '1.2.3', 'a.1']) expect(readPinned(text)).toBeUndefined()
})

test('an address names trajectories by keys, which may contain commas', () => {
  expect(readKeys('a,b%2Cc,,d')).toEqual(['a', 'b,c', 'd'])
  expect(readKeys('')).toEqual([])
})
