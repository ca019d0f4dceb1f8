import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { LabInput, LabTokenizer } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { loadTokenizerFiles } from '#lib/tokenizer/files/tokenizer-files.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import type { ModelCompletion, ReRenderedCall, ReRendering } from './rerender.ts'
import { parsing } from './tasks.ts'
import { glmTemplate, kimiTemplate, llamaTemplate, plainTemplate, xmlTemplate } from './test-templates.ts'

const file = (name: string) => readFileSync(new URL(`../../../models/tiny-qwen3/${name}`, import.meta.url), 'utf8')
const configuration = file('tokenizer_config.json')
const { chat_template: qwen3 } = JSON.parse(configuration) as { readonly chat_template: string }
const tiny: LabTokenizer = loadTokenizerFiles('tiny', {
  tokenizerJson: file('tokenizer.json'),
  tokenizerConfigJson: configuration,
})
const bytes: LabTokenizer = { tokenizer: byteTokenizer, compile: (template) => chatTemplate(template, {}) }

const conversation: Omit<LabInput, 'template'> = {
  messages: '[{"role": "user", "content": "1.0 plus [2]?"}]',
  tools:
    '[{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "number"}, "t": {"type": "string"}}}}}]',
  options: '',
}

function reRendered(
  template: string,
  parser: string,
  completion: string | ModelCompletion,
  { tokenizer = tiny, ...changed }: Partial<LabInput> & { readonly tokenizer?: LabTokenizer } = {},
): ReRendering | undefined {
  const request = {
    completion: typeof completion === 'string' ? { text: completion } : completion,
    parsers: [parser],
    input: { ...conversation, template, ...changed },
  }
  const { value, done } = parsing(request, [tokenizer]).next()
  if (!done) throw new Error('more than one step')
  return structuredClone(value.lanes[0]?.reRendering)
}

function onlyCall(rendering: ReRendering | undefined): ReRenderedCall {
  if (rendering?.kind !== 'written') throw new Error(JSON.stringify(rendering))
  const [call] = rendering.calls
  if (!call) throw new Error('no call')
  return call
}

const json = (body: string) => `<tool_call>\n${body}\n</tool_call>`
const lineOf = (template: string, needle: string) => template.slice(0, template.indexOf(needle)).split('\n').length

describe('a call that the template writes as the model did', () => {
  test.each([
    ['hermes', qwen3, json('{"name": "add", "arguments": {"a": 1.0, "t": "é"}}')],
    [
      'qwen_xml',
      xmlTemplate,
      '<tool_call>\n<function=add>\n<parameter=a>\n1.0\n</parameter>\n<parameter=t>\n42\n</parameter>\n</function>\n</tool_call>',
    ],
    ['glm', glmTemplate, '<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1.0</arg_value>\n</tool_call>'],
    [
      'kimi_k2',
      kimiTemplate,
      '<|tool_calls_section_begin|><|tool_call_begin|>functions.add:7<|tool_call_argument_begin|>{"a": 1.0}<|tool_call_end|><|tool_calls_section_end|>',
    ],
  ])('has the same tokens, numbers and ids for %s', (parser, template, text) => {
    for (const tokenizer of [tiny, bytes])
      expect(onlyCall(reRendered(template, parser, `Well. ${text}`, { tokenizer }))).toEqual({
        kind: 'same',
        tokens: expect.any(Number),
      })
  })

  test('is compared by itself among several, and a malformed one is left out', () => {
    const good = json('{"name": "add", "arguments": {"a": 2}}')
    const spaced = json('{"name": "add",  "arguments": {"a": 2}}')
    const rendering = reRendered(qwen3, 'hermes', `${good}\n${json('{')}\n${spaced}`)
    expect(rendering?.kind === 'written' && rendering.calls.map((call) => call?.kind)).toEqual([
      'same',
      undefined,
      'differs',
    ])
  })

  test('replaces the reply that the conversation already has', () => {
    const text = json('{"name": "add", "arguments": {"a": 1}}')
    const messages = JSON.stringify([
      { role: 'user', content: 'a "[{,}]" b' },
      { role: 'assistant', content: 'old', tool_calls: [] },
    ])
    expect(onlyCall(reRendered(qwen3, 'hermes', text, { messages }))).toMatchObject({ kind: 'same' })
    const odd = '[{"role": "user", "content": "q", "x": NaN}, {"content": [{"role": "assistant"}], "role": "user"}]'
    for (const given of ['[]', ' [ ] ', odd])
      expect(onlyCall(reRendered(qwen3, 'hermes', text, { messages: given }))).toMatchObject({ kind: 'same' })
  })
})

describe('a call that the template writes differently', () => {
  test.each([
    ['{"name": "add","arguments": {"a": 1}}', ['spacing']],
    ['{"arguments": {"a": 1}, "name": "add"}', ['key-order']],
    ['{"name": "add", "arguments": {"t": "\\u00e9"}}', ['escapes']],
    ['{"name": "add", "arguments": {"a": 1e3}}', ['numbers']],
    ['{"name": "add", "id": 7, "arguments": {"a": 1}}', ['ignored']],
  ])('with %s has the causes %j', (body, causes) => {
    const call = onlyCall(reRendered(qwen3, 'hermes', json(body)))
    expect(call).toMatchObject({ kind: 'differs', causes })
    if (call.kind !== 'differs') return
    const { at, completion, template, line } = call
    expect(completion.tokens.slice(0, at)).toEqual(template.tokens.slice(0, at))
    expect(completion.tokens[at]?.id).not.toBe(template.tokens[at]?.id)
    expect(completion.text).toBe(json(body))
    expect(template.tokens.map(({ text }) => text).join('')).toBe(template.text)
    expect(line).toBeGreaterThan(lineOf(qwen3, 'message.tool_calls'))
  })

  test('has the line of the template that wrote the first differing letter', () => {
    const text = '<tool_call>\n<function=add>\n<parameter=a>1</parameter>\n</function>\n</tool_call>'
    expect(onlyCall(reRendered(xmlTemplate, 'qwen_xml', text))).toMatchObject({
      causes: ['spacing'],
      line: lineOf(xmlTemplate, "{{- '<parameter='"),
    })
  })

  test('has the cause tokens if the same text was sampled in other tokens', () => {
    const text = json('{"name": "add", "arguments": {"a": 1}}')
    const letters = Array.from(text, (letter) => tiny.tokenizer.encode(letter))
    const ids = letters.flat()
    const starts = letters.flatMap((own, index) => own.map(() => index)).concat(text.length)
    expect(onlyCall(reRendered(qwen3, 'hermes', { text, encoding: { ids, starts } }))).toMatchObject({
      kind: 'differs',
      causes: ['tokens'],
    })
  })
})

test('a call is absent if the template writes no calls, or in another form', () => {
  const text = json('{"name": "add", "arguments": {"a": 1}}')
  for (const template of [plainTemplate, llamaTemplate])
    expect(onlyCall(reRendered(template, 'hermes', text))).toMatchObject({
      kind: 'absent',
      why: 'this parser finds no call in the text that the template writes',
    })
})

test('the re-rendering reports a completion without calls, and errors in the texts of the lab', () => {
  expect(reRendered(qwen3, 'hermes', 'no call')).toEqual({ kind: 'nothing' })
  const text = json('{"name": "add"}')
  expect(reRendered('{{', 'hermes', text)).toMatchObject({ kind: 'failed', error: { where: 'template' } })
  expect(reRendered(qwen3, 'hermes', text, { messages: '{' })).toMatchObject({
    kind: 'failed',
    error: { where: 'messages' },
  })
  expect(reRendered(qwen3, 'hermes', text, { messages: '[{"role": "user"},\n x]' })).toMatchObject({
    error: { where: 'messages', line: 2, column: 2 },
  })
  expect(reRendered(qwen3, 'hermes', text, { tools: '[1]' })).toMatchObject({
    kind: 'failed',
    error: { where: 'tools' },
  })
})
