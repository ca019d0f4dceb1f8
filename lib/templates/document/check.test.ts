import { expect, test } from 'vitest'
import { type LabInput, type LabTokenizer, resultOf } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { check } from './check.ts'

const tokenizer: LabTokenizer = { tokenizer: byteTokenizer, compile: (text) => chatTemplate(text, {}) }
const lab = (template: string, messages = '[{"role": "user", "content": "Hi"}]'): LabInput => ({
  template,
  messages,
  tools: '',
  options: '',
})

test.each([
  ['does not compile', lab('{% if %}'), 'template'],
  ['raises an error', lab("{{ raise_exception('no') }}"), 'template'],
  ['has messages that are no list', lab('', '{}'), 'messages'],
])('the check of a document says where it fails if it %s', (_, input, where) => {
  expect(resultOf(check(input, [tokenizer]))).toMatchObject({ ok: false, error: { where } })
})

test('the check names the markers that are no tokens of the tokenizer', () => {
  expect(resultOf(check(lab('<|im_start|>{{ messages[0].content }}<|end_of_turn|>'), [tokenizer]))).toEqual({
    ok: true,
    markers: ['<|im_start|>', '<|end_of_turn|>'],
    plainMarkers: ['<|end_of_turn|>'],
  })
})

test('the check without a tokenizer reads only the input', () => {
  expect(resultOf(check(lab('{% if %}<|im_end|>'), []))).toEqual({
    ok: true,
    markers: ['<|im_end|>'],
    plainMarkers: [],
  })
  expect(resultOf(check(lab('', '['), []))).toMatchObject({ ok: false, error: { where: 'messages' } })
})
