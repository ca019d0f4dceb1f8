import { expect, test } from 'vitest'
import { errorText } from './error-text.ts'

test('The text of an error is its message, and of any other thrown value the value as text', () => {
  expect([errorText(new RangeError('too long')), errorText('too long'), errorText(7)]).toEqual([
    'too long',
    'too long',
    '7',
  ])
})
