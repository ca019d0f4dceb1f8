import { expect, test } from 'vitest'
import { withAdvice } from './with-advice.ts'

test.each<[string, string | undefined, string]>([
  [
    'the text is longer than 2,000,000 characters',
    'Shorten it.',
    'The text is longer than 2,000,000 characters. Shorten it.',
  ],
  ['The server says: try later!', 'Wait.', 'The server says: try later! Wait.'],
  ['it said “no.”', 'Wait.', 'It said “no.” Wait.'],
  ['a sentence. ', undefined, 'A sentence.'],
  ['a clause', '', 'A clause.'],
])('A message %j and its advice %j are whole sentences', (message, advice, text) => {
  expect(withAdvice(message, advice)).toBe(text)
})
