import { expect, test } from 'vitest'
import { conversationTexts } from './samples.ts'
import { isLabFile, openedFile, selectTemplate, templatesOf } from './template-files.ts'

const named = '{"chat_template": [{"name": "default", "template": "d"}, {"name": "tool_use", "template": "t"}]}'

test('the templates of a repository have names, and chat_template.jinja wins', () => {
  expect(templatesOf({ chatTemplateJinja: undefined, tokenizerConfigJson: named })).toEqual([
    { name: 'default', text: 'd' },
    { name: 'tool_use', text: 't' },
  ])
  expect(templatesOf({ chatTemplateJinja: 'j', tokenizerConfigJson: named })).toEqual([{ name: 'default', text: 'j' }])
  expect(templatesOf({ chatTemplateJinja: undefined, tokenizerConfigJson: '{}' })).toEqual([])
})

test('a conversation with tools gets the template for tools', () => {
  const templates = templatesOf({ chatTemplateJinja: undefined, tokenizerConfigJson: named })
  expect(selectTemplate(templates, true)?.text).toBe('t')
  expect(selectTemplate(templates, false)?.text).toBe('d')
  expect(selectTemplate([{ name: 'rag', text: 'r' }], false)?.text).toBe('r')
})

test.each([
  ['a.jinja', '{{ 1 }}', { kind: 'templates', templates: [{ name: 'default', text: '{{ 1 }}' }] }],
  ['chat_template.json', '{"chat_template": "x"}', { kind: 'templates', templates: [{ text: 'x' }] }],
  ['chat_template.jsonc', '// the\n{"chat_template": "a//b",}', { kind: 'templates', templates: [{ text: 'a//b' }] }],
  ['tokenizer_config.json', named, { kind: 'templates', templates: [{}, {}] }],
  [
    'messages.json',
    '[{"role": "user", "n": 1.0}]\n',
    { kind: 'conversation', input: { messages: '[{"role": "user", "n": 1.0}]' } },
  ],
  [
    'c.json',
    '{"messages": [{"role": "user"}], "tools": []}',
    { kind: 'conversation', input: { messages: '[{"role": "user"}]', tools: '[]' } },
  ],
  ['c.json', '{"a": 1}', { kind: 'neither', why: expect.stringContaining('no chat_template') }],
  ['c.json', '{', { kind: 'neither', why: expect.stringContaining('not JSON') }],
])('the lab opens %s: %s', (name, text, opened) => {
  expect(openedFile(name, text)).toMatchObject(opened)
})

test('files of the lab are recognized by name; other files are trajectories', () => {
  expect(['x.jinja', 'tokenizer_config.json', 'chat_template.jsonc', 'messages.json'].every(isLabFile)).toBe(true)
  expect(['run.json', 'steps.jsonl', 'rollout.parquet'].some(isLabFile)).toBe(false)
})

test('a repository without a configuration has no templates, and entries of another form are left out', () => {
  expect(templatesOf({})).toEqual([])
  const odd = '{"chat_template": [{"name": "a"}, {"name": 1, "template": "t"}, {"name": "b", "template": "t"}]}'
  expect(templatesOf({ tokenizerConfigJson: odd })).toEqual([{ name: 'b', text: 't' }])
  expect(templatesOf({ tokenizerConfigJson: '{"chat_template": 1}' })).toEqual([])
})

test('without a template named default, a conversation gets the first one', () => {
  const templates = [
    { name: 'rag', text: 'r' },
    { name: 'other', text: 'o' },
  ]
  expect([false, true].map((hasTools) => selectTemplate(templates, hasTools)?.text)).toEqual(['r', 'r'])
  expect(selectTemplate([], true)).toBeUndefined()
})

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
