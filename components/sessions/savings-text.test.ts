import { expect, test } from 'vitest'
import { savingsEnd, savingsParts } from './savings-text.ts'

const NOTHING = { drifts: 0, trainedTokens: 0, cachedTokens: 0, rows: 0 }

test('The savings name only what differs from a chat pipeline', () => {
  const all = { drifts: 14, trainedTokens: 1, cachedTokens: 1_204, rows: 3 }
  const parts = savingsParts(all, 1)
  expect(parts).toEqual(['14 drifts avoided', '1 trained token kept', '1,204 cached tokens kept', '1 row instead of 3'])
  expect(savingsEnd(parts)).toBe('compared with a chat pipeline')
  expect(savingsParts({ ...NOTHING, drifts: 1, rows: 12 }, 12)).toEqual(['1 drift avoided'])
})

test('A session without savings says in words that a chat pipeline would have sent the same tokens', () => {
  const parts = savingsParts({ ...NOTHING, rows: 12 }, 12)
  expect(parts).toEqual([])
  expect(savingsEnd(parts)).toBe('No drift to avoid: a chat pipeline would have sent the same tokens.')
})
