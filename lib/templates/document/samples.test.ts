import { expect, test } from 'vitest'
import { conversationTexts } from './samples.ts'

test('the texts of a conversation are spelled as in its file, and those that it lacks are empty', () => {
  expect(conversationTexts('{"messages": [{"x": 1.0}], "options": {"a": 1e3}}')).toEqual({
    messages: '[{"x": 1.0}]',
    tools: '',
    options: '{"a": 1e3}',
  })
})

test('a file that is not JSON has no texts', () => {
  expect(conversationTexts('{')).toBeUndefined()
})
