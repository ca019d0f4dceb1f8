/** Tests both renderers that the page uses for comparison: Python's transformers, and a server's own template. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type TemplateCheck, templateCheckSchema } from '#lib/api/template-check.ts'
import { application } from '../set-up/application.ts'

const places = inject('places')
const rollscope = application(places.application)
const own = JSON.parse(readFileSync(path.join(places.peers.model, 'tokenizer_config.json'), 'utf8'))
  .chat_template as string

const conversation = {
  messages: [
    { role: 'system', content: 'You are a helpful assistant.' },
    { role: 'user', content: 'What is 25 * 17?' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ type: 'function', function: { name: 'calculator', arguments: { expression: '25 * 17' } } }],
    },
    { role: 'tool', content: '425' },
  ],
  options: { add_generation_prompt: true, enable_thinking: true },
}

const check = async (renderer: 'server' | 'python', changes: object = {}): Promise<TemplateCheck> =>
  templateCheckSchema.parse(
    await (
      await rollscope.post('/api/templates/check', {
        renderer,
        server: 'sglang-renderer',
        tokenizer: places.peers.model,
        ...conversation,
        ...changes,
      })
    ).json(),
  )

beforeAll(() => rollscope.addServer('sglang-renderer', places.sglang))

describe('the Python renderer', () => {
  test('confirms the shipped model’s template, text and ids, and reports its version', async () => {
    expect(await check('python')).toMatchObject({
      verdict: 'same',
      version: expect.stringMatching(/^python 3\.11\.\d+, transformers 5\.19\.0, jinja2 3/),
    })
  })

  test('raises the same errors, at the same line', async () => {
    expect(await check('python', { template: 'a\n{{ messages[0].nothing.at_all }}' })).toMatchObject({
      verdict: 'same',
      detail: expect.stringContaining("UndefinedError: 'dict object' has no attribute 'nothing' (line 2)"),
    })
  })

  test('receives numbers in their original notation', async () => {
    const messages = '[{"role": "user", "content": "x", "n": {"2": 1.0, "1": 12345678901234567890}}]'
    const template = '{{ messages[0].n | tojson }}{{ messages[0].n }}'
    expect(await check('python', { template, messages })).toMatchObject({ verdict: 'same' })
  })

  test('gives a template that needs too much memory a limit', async () => {
    expect(await check('python', { template: "{{ ('a' * 30000000000) | length }}" })).toMatchObject({
      verdict: 'differs',
      detail: expect.stringMatching(/^Python raises MemoryError: .*; here it is BudgetError: /),
    })
  })
})

describe('the server as renderer', () => {
  test('confirms its own template', async () => {
    expect(await check('server')).toMatchObject({
      verdict: 'same',
      version: expect.stringMatching(/^server sglang-renderer, SGLang 0\.5\.23, /),
    })
  })

  test('contradicts another template, with the position', async () => {
    const template = own.replaceAll('<tool_response>', '<tool_result>')
    expect(await check('server', { template })).toMatchObject({
      verdict: 'differs',
      firstDifference: {
        unit: 'token',
        ours: expect.stringContaining('result'),
        theirs: expect.stringContaining('resp'),
      },
    })
  })
})
