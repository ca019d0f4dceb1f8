import { expect, test } from 'vitest'
import { countWithNoun } from './count-with-noun.ts'

test.each([
  [0, 'call', undefined, '0 calls'],
  [1, 'call', undefined, '1 call'],
  [2000, 'call', undefined, '2,000 calls'],
  [1, 'property', 'properties', '1 property'],
  [3, 'property', 'properties', '3 properties'],
])('%d and the noun %s are written as a count with the right number', (count, noun, plural, text) => {
  expect(countWithNoun(count, noun, plural)).toBe(text)
})
