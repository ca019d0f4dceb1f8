/** The mask doctor with real templates, through the lab's own door. */

import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LabInput, LabTokenizer } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { runs } from '#testing/property-runs.ts'
import { maskDoctor } from './doctor.ts'
import type { MaskReport, WayName } from './report.ts'
import { masks } from './task.ts'

const bytes: LabTokenizer = { tokenizer: byteTokenizer, compile: (text) => chatTemplate(text, {}) }
const input = (template: string, messages: unknown, options = ''): LabInput => ({
  template,
  messages: JSON.stringify(messages),
  tools: '',
  options,
})
const diagnosed = (template: string, messages: unknown, options?: string) =>
  maskDoctor({ input: input(template, messages, options) }, bytes)

/** What a way trains, stretch by stretch. */
function trained(name: WayName, { ways, sequence }: MaskReport): readonly string[] {
  const way = ways.find((each) => each.name === name)
  if (way?.kind !== 'computed') throw new Error(`${name} is missing`)
  return way.runs.flatMap(({ start, end, mark }) =>
    mark === 'trained' ? [textOf(sequence.ids.slice(start, end), sequence.vocab)] : [],
  )
}

const OTHER = "{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>' }}"
/** ChatML whose assistant turn is written by `reply`, with what ends every turn behind it. */
const chatml = (reply: string, between = '\\n') =>
  `{%- for m in messages -%}{%- if m.role == 'assistant' -%}${reply}{%- else -%}${OTHER}{%- endif -%}{{ '${between}' }}{%- endfor -%}` +
  "{%- if add_generation_prompt -%}{{ '<|im_start|>assistant\\n' }}{%- endif -%}"
const HEADER = "{{ '<|im_start|>assistant\\n' }}"
const marked = (body: string) => `{% generation %}${body}{% endgeneration %}`
const clean = chatml(`${HEADER}${marked("{{ m.content + '<|im_end|>' }}")}`, '')

const conversation = fc
  .array(
    fc.record({
      question: fc.string({ unit: 'grapheme', maxLength: 8 }),
      reply: fc.string({ unit: 'grapheme', maxLength: 8 }),
      result: fc.option(fc.string({ maxLength: 4 })),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((turns) =>
    turns.flatMap(({ question, reply, result }) => [
      { role: 'user', content: question },
      { role: 'assistant', content: reply },
      ...(result === null ? [] : [{ role: 'tool', content: result }]),
    ]),
  )
const replies = (messages: readonly { readonly role: string; readonly content: string }[]) =>
  messages.flatMap(({ role, content }) => (role === 'assistant' ? [content] : []))

describe('ChatML', () => {
  test('by prefixes and behind a fixed base: every reply with its end and the newline', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const report = diagnosed(chatml(`${HEADER}{{ m.content + '<|im_end|>' }}`), messages)
        const expected = replies(messages).map((reply) => `${reply}<|im_end|>\n`)
        expect(trained('prefix', report)).toEqual(expected)
        expect(trained('fixed-base', report)).toEqual(expected)
        expect(trained('generation', report)).toEqual([])
      }),
      { numRuns: runs(40) },
    )
  })

  test('with a generation block and nothing behind it: all ways agree, and nothing is found', () => {
    fc.assert(
      fc.property(conversation, (messages) => {
        const report = diagnosed(clean, messages)
        expect(trained('generation', report)).toEqual(replies(messages).map((reply) => `${reply}<|im_end|>`))
        expect([report.disagreements, report.lints]).toEqual([[], []])
      }),
      { numRuns: runs(40) },
    )
  })
})

/** A template with one defect each, and what must be found of its generation block: that and nothing else. */
const SEEDED: readonly (readonly [defect: string, template: string, found: readonly string[]])[] = [
  ['no block', chatml(`${HEADER}{{ m.content + '<|im_end|>' }}`, ''), ['all-zero']],
  ['the header inside', chatml(marked(`${HEADER}{{ m.content + '<|im_end|>' }}`), ''), ['header-trained']],
  ['the end outside', chatml(`${HEADER}${marked('{{ m.content }}')}{{ '<|im_end|>' }}`, ''), ['end-of-turn-untrained']],
  ['the newline inside', chatml(`${HEADER}${marked("{{ m.content + '<|im_end|>\\n' }}")}`, ''), ['after-end-trained']],
  [
    'tool results inside',
    clean.replace(OTHER, `{%- if m.role == 'tool' -%}${marked(OTHER)}{%- else -%}${OTHER}{%- endif -%}`),
    ['tool-result-trained'],
  ],
  [
    'questions inside',
    clean.replace(OTHER, `{%- if m.role == 'user' -%}${marked(OTHER)}{%- else -%}${OTHER}{%- endif -%}`),
    ['context-trained'],
  ],
]

describe('a defect in the template', () => {
  const messages = [
    { role: 'user', content: 'q' },
    { role: 'assistant', content: 'call' },
    { role: 'tool', content: '425' },
    { role: 'assistant', content: 'a' },
  ]

  test.each(SEEDED)('%s is found, and nothing else', (_, template, found) => {
    const lints = diagnosed(template, messages).lints.filter(({ way }) => way === 'generation')
    expect(lints.map(({ kind }) => kind)).toEqual(found)
  })

  test('a place names its template line', () => {
    const lines = clean.replaceAll('{%- else', '\n{%- else').replace('{% generation', '\n{% generation')
    const [lint] = diagnosed(lines.replace("'<|im_end|>' }}{% endgen", "'<|im_end|>\\n' }}{% endgen"), messages).lints
    expect(lint).toMatchObject({ kind: 'after-end-trained', way: 'generation', places: [{ line: 2, message: 1 }, {}] })
  })
})

describe('the templates that ship as samples', () => {
  const folder = 'public/templates'
  const names = readdirSync(folder).filter((name) => name.endsWith('.jinja'))
  const messages = [
    { role: 'user', content: 'q' },
    { role: 'assistant', content: 'a' },
    { role: 'user', content: 'r' },
    { role: 'assistant', content: 'b' },
  ]

  test.each(names)('%s: each reply is trained, nothing else is', (name) => {
    const report = diagnosed(readFileSync(`${folder}/${name}`, 'utf8'), messages)
    expect(report.failure).toBeUndefined()
    const stretches = trained('prefix', report)
    expect(stretches.join('')).toMatch(/a.*b/s)
    const wrong = ['header-trained', 'context-trained', 'tool-result-trained', 'end-of-turn-untrained']
    expect(report.lints.filter(({ kind }) => wrong.includes(kind))).toEqual([])
  })
})

describe('the task', () => {
  test('tells how far it is, and gives the same report', () => {
    const request = {
      input: input(clean, [
        { role: 'user', content: 'q' },
        { role: 'assistant', content: 'a' },
      ]),
    }
    const steps = masks(request, [bytes])
    expect(steps.next()).toEqual({ done: false, value: { done: 0, of: 1 } })
    expect(steps.next()).toEqual({ done: true, value: maskDoctor(request, bytes) })
  })

  test('what is wrong with the input is its result', () => {
    expect(maskDoctor({ input: { ...input(clean, []), messages: '[' } }, bytes).failure).toMatchObject({
      where: 'messages',
    })
    expect(maskDoctor({ input: input('{% if %}', [{ role: 'user', content: '' }]) }, bytes).failure).toMatchObject({
      where: 'template',
      className: 'TemplateSyntaxError',
    })
    expect(() => masks({ input: input(clean, []) }, [])).toThrow('needs a tokenizer')
  })

  test('the report is plain data', () => {
    const report = diagnosed(clean, [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'a' },
    ])
    expect(structuredClone(report)).toEqual(report)
  })
})
