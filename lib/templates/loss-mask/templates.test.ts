/** Tests the mask doctor with whole templates, from the texts of the template lab. */

import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LabInput, LabTokenizer } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { runs } from '#testing/property-runs.ts'
import { maskDoctor } from './doctor.ts'
import type { MaskMethodName, MaskReport } from './report.ts'
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

/** Returns the stretches that a way trains. */
function trained(name: MaskMethodName, { ways, sequence }: MaskReport): readonly string[] {
  const way = ways.find((each) => each.name === name)
  if (way?.kind !== 'computed') throw new Error(`${name} is missing`)
  return way.runs.flatMap(({ start, end, mark }) =>
    mark === 'trained' ? [textOf(sequence.ids.slice(start, end), sequence.vocab)] : [],
  )
}

const OTHER = "{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>' }}"
/** Returns ChatML whose assistant turn is written by `reply`, with `between` after every turn. */
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

describe('the mask doctor on ChatML', () => {
  test('trains every reply with its end and the newline, by prefixes and after a fixed base', () => {
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

  test('finds no disagreement and no lint for a generation block that nothing follows', () => {
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

/** Templates with one defect each, and the only lints that must be found for their generation blocks. */
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

describe('the mask doctor on a template with one defect', () => {
  const messages = [
    { role: 'user', content: 'q' },
    { role: 'assistant', content: 'call' },
    { role: 'tool', content: '425' },
    { role: 'assistant', content: 'a' },
  ]

  test.each(SEEDED)('finds this defect and nothing else: %s', (_, template, found) => {
    const lints = diagnosed(template, messages).lints.filter(({ way }) => way === 'generation')
    expect(lints.map(({ kind }) => kind)).toEqual(found)
  })

  test('reports the template line of a place', () => {
    const lines = clean.replaceAll('{%- else', '\n{%- else').replace('{% generation', '\n{% generation')
    const [lint] = diagnosed(lines.replace("'<|im_end|>' }}{% endgen", "'<|im_end|>\\n' }}{% endgen"), messages).lints
    expect(lint).toMatchObject({ kind: 'after-end-trained', way: 'generation', places: [{ line: 2, message: 1 }, {}] })
  })
})

describe('the mask doctor on a template that ships as a sample', () => {
  const folder = 'public/templates'
  const names = readdirSync(folder).filter((name) => name.endsWith('.jinja'))
  const messages = [
    { role: 'user', content: 'q' },
    { role: 'assistant', content: 'a' },
    { role: 'user', content: 'r' },
    { role: 'assistant', content: 'b' },
  ]

  test.each(names)('trains each reply and nothing else: %s', (name) => {
    const report = diagnosed(readFileSync(`${folder}/${name}`, 'utf8'), messages)
    expect(report.failure).toBeUndefined()
    const trainedTexts = trained('prefix', report)
    expect(trainedTexts.join('')).toMatch(/a.*b/s)
    const wrong = ['header-trained', 'context-trained', 'tool-result-trained', 'end-of-turn-untrained']
    expect(report.lints.filter(({ kind }) => wrong.includes(kind))).toEqual([])
  })
})

describe('the task of the mask doctor', () => {
  test('yields progress and returns the same report', () => {
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

  test('returns the error of invalid input in its report', () => {
    expect(maskDoctor({ input: { ...input(clean, []), messages: '[' } }, bytes).failure).toMatchObject({
      where: 'messages',
    })
    expect(maskDoctor({ input: input('{% if %}', [{ role: 'user', content: '' }]) }, bytes).failure).toMatchObject({
      where: 'template',
      className: 'TemplateSyntaxError',
    })
    expect(() => masks({ input: input(clean, []) }, [])).toThrow('needs a tokenizer')
  })

  test('returns plain data', () => {
    const report = diagnosed(clean, [
      { role: 'user', content: 'q' },
      { role: 'assistant', content: 'a' },
    ])
    expect(structuredClone(report)).toEqual(report)
  })
})
