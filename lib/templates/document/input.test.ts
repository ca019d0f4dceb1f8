/** Tests how the lab's texts are passed to apply_chat_template of transformers 5.23. */
import { describe, expect, test } from 'vitest'
import { type LabInput, runToEnd } from '#lib/tasks/task.ts'
import { chatTemplate, type RenderInput } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { maskDoctor } from '../loss-mask/doctor.ts'
import { compareRevisions } from '../preview/compare.ts'
import { prefixMask, preview } from '../preview/preview.ts'
import { check } from './check.ts'
import { orTemplateFailure, readInput } from './input.ts'

const template =
  '{% for m in messages %}<|{{ m.role }}|>{{ m.content }}<|end|>{% endfor %}{% if tools is not none %}[{{ tools | length }} tools]{% endif %}'
const document = (changed: Partial<LabInput> = {}): LabInput => ({
  template,
  messages: '[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hel"}]',
  tools: '',
  options: '',
  ...changed,
})
const tokenizer = { tokenizer: byteTokenizer, compile: (text: string) => chatTemplate(text, {}) }
const read = (changed: Partial<LabInput>): RenderInput => {
  const input = readInput(document(changed))
  if (!input.ok) throw new Error(input.error.message)
  return input.value
}
const rendered = (changed: Partial<LabInput>) => {
  const shown = runToEnd(preview(document(changed), [tokenizer]))
  return shown.kind === 'rendered' ? shown.renderPreview.text : `${shown.error.className}: ${shown.error.message}`
}

test.each([
  ['', undefined],
  [' null ', undefined],
  ['[]', []],
])('tools given as %j are passed on as transformers does', (tools, expected) => {
  expect(read({ tools }).tools).toEqual(expected)
})

test('an empty list of tools reaches the template, and no tools are None', () => {
  expect(rendered({ tools: '[]' })).toContain('[0 tools]')
  expect(rendered({ tools: '' })).not.toContain('tools]')
})

describe('an argument of apply_chat_template among the options', () => {
  test.each([
    ['tokenize', false, 'text and token ids'],
    ['return_tensors', 'pt', 'text and token ids'],
    ['return_dict', true, 'text and token ids'],
    ['padding', true, 'nothing is padded'],
    ['truncation', true, 'nothing is cut'],
    ['max_length', 10, 'nothing is padded or cut'],
    ['tokenizer_kwargs', {}, 'has no further settings'],
    ['return_assistant_tokens_mask', true, 'always computed'],
    ['sanitize_control_tokens', true, 'not supported'],
    ['chat_template', 'x', 'put the template into the template'],
    ['conversation', [], 'put messages into the messages'],
    ['messages', [], 'put messages into the messages'],
    ['tools', [], 'put tools into the tools'],
  ])('is refused by name with advice: %s', (name, value, advice) => {
    const input = readInput(document({ options: JSON.stringify({ enable_thinking: true, [name]: value }) }))
    expect(input).toMatchObject({
      ok: false,
      error: { where: 'options', message: expect.stringMatching(new RegExp(`^${name} is an argument.*${advice}`)) },
    })
  })

  test('is passed on if it is documents, which must be a list of objects', () => {
    const template = '{{ documents[0].title }}'
    expect(rendered({ template, options: '{"documents": [{"title": "Fjords"}]}' })).toBe('Fjords')
    expect(rendered({ template, options: '{"documents": ["Fjords"]}' })).toBe(
      "TypeError: Documents should be a list of dicts with 'title' and 'text' keys!",
    )
  })
})

describe('continue_final_message', () => {
  const options = '{"continue_final_message": true}'

  test('leaves the last message open, and every character has the line that wrote it', () => {
    expect(rendered({ options })).toBe('<|user|>Hi<|end|><|assistant|>Hel')
    const { text, pieces } = tokenizer.compile(template).trace(read({ options }))
    expect(pieces.at(-1)).toMatchObject({ end: text.length, message: 1, source: 'value' })
  })

  test('may name the field to continue', () => {
    const reasoning = {
      template: '{% for m in messages %}{{ m.reasoning_content }}|{{ m.content }}{% endfor %}',
      messages: '[{"role": "assistant", "reasoning": "Wel", "content": "x"}]',
    }
    expect(rendered({ ...reasoning, options: '{"continue_final_message": "reasoning"}' })).toBe('Wel')
    expect(rendered({ ...reasoning, options: '{"continue_final_message": "notes"}' })).toMatch(/has no "notes"/)
  })

  test('is not compatible with a generation prompt', () => {
    expect(rendered({ options: '{"continue_final_message": true, "add_generation_prompt": true}' })).toMatch(
      /^ValueError: continue_final_message and add_generation_prompt are not compatible/,
    )
  })

  test('leaves no mask to compute, as in transformers', () => {
    const why = expect.stringContaining('not compatible with return_assistant_tokens_mask')
    const input = document({ options, template: `{% generation %}${template}{% endgeneration %}` })
    expect(runToEnd(preview(input, [tokenizer]))).toMatchObject({ renderPreview: { mask: { kind: 'unknown', why } } })
    expect(runToEnd(prefixMask(document({ options }), [tokenizer]))).toMatchObject({ kind: 'unknown', why })
    expect(maskDoctor({ input }, tokenizer).failure).toMatchObject({ where: 'options', message: why })
  })

  test('changes no call of the model when a conversation is repeated', () => {
    const turns = (given: string) =>
      runToEnd(compareRevisions({ input: document({ options: given }), against: template, turns: 3 }, [tokenizer]))
        .turns
    expect(turns(options)).toEqual(turns(''))
  })
})

test.each([
  ['an empty conversation', { messages: '[]' }, 'messages', 'a conversation needs at least one message'],
  ['messages that are no list', { messages: '{}' }, 'messages', 'the messages are not a list'],
  ['a message that is no object', { messages: '[{}, 1]' }, 'messages', 'entry 2 of the messages is not an object'],
  ['tools that are no list', { tools: '{}' }, 'tools', 'the tools are not a list'],
  ['options that are no object', { options: '[]' }, 'options', 'the options are not an object of names and values'],
])('%s is refused with its place', (_, changed, where, message) => {
  expect(readInput(document(changed))).toMatchObject({ ok: false, error: { where, message } })
})

test('options that are no JSON are refused with their line and column', () => {
  expect(readInput(document({ options: '{\n  "a": }' }))).toMatchObject({
    ok: false,
    error: { where: 'options', className: 'JSONDecodeError', line: 2, column: 8 },
  })
})

test('an error that no template raised is thrown', () => {
  const broken = () => {
    throw new RangeError('a bug')
  }
  expect(() => orTemplateFailure(broken)).toThrow(RangeError)
})

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
  expect(runToEnd(check(input, [tokenizer]))).toMatchObject({ ok: false, error: { where } })
})

test('the check names the markers that are no tokens of the tokenizer', () => {
  expect(runToEnd(check(lab('<|im_start|>{{ messages[0].content }}<|end_of_turn|>'), [tokenizer]))).toEqual({
    ok: true,
    markers: ['<|im_start|>', '<|end_of_turn|>'],
    plainMarkers: ['<|end_of_turn|>'],
  })
})

test('the check without a tokenizer reads only the input', () => {
  expect(runToEnd(check(lab('{% if %}<|im_end|>'), []))).toEqual({
    ok: true,
    markers: ['<|im_end|>'],
    plainMarkers: [],
  })
  expect(runToEnd(check(lab('', '['), []))).toMatchObject({ ok: false, error: { where: 'messages' } })
})
