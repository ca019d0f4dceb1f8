import { expect, test } from 'vitest'
import { type LabTokenizer, runToEnd } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { readTemplateUnderTest } from '../doctor.ts'
import { withBudget } from '../subject.ts'
import { alias, insertsThink, promptThinks, reorders, steady, strips, trims } from '../test-templates.ts'
import { fixChecker } from './fix-check.ts'

const bytes: LabTokenizer = { tokenizer: byteTokenizer, compile: (text) => chatTemplate(text, {}) }

function checked(template: string, fixed: string, options = {}) {
  const read = readTemplateUnderTest({ template }, bytes)
  if (!read.ok) throw new Error(read.error.message)
  const { subject, settings } = read.value
  const checker = fixChecker(subject, settings, options)
  const changed = { ...subject, template: withBudget(chatTemplate(fixed, {})) }
  return {
    keepsReplies: checker.keepsReplies(changed),
    search: runToEnd(checker.search(changed)),
    costs: checker.costs(changed),
  }
}

test.each([
  ['drops earlier thinking', steady, strips],
  ['sorts results', steady, reorders],
  ['trims', steady, trims],
  ['raises', strips, `${steady}{%- if messages | length > 4 -%}{{ nothing.at.all }}{%- endif -%}`],
])('the search of the fix checker rejects a change that %s', (_, template, fixed) => {
  expect(checked(template, fixed).search).toBeUndefined()
})

test('the search of the fix checker counts the conversations that break with the template and with the fix', () => {
  const { search, costs } = checked(strips, steady)
  expect(search).toMatchObject({ conversations: 240, brokenAfter: 0 })
  expect(search?.brokenBefore).toBeGreaterThan(50)
  expect(costs).toEqual([])
})

test('the search of the fix checker also runs with the options of the cell that the fix is for', () => {
  expect(checked(promptThinks, promptThinks, { enable_thinking: false }).search?.conversations).toBe(480)
})

test('the fix checker rejects a change to last replies, because the model is trained to write them', () => {
  const opens = steady.replace("'<think>\\n'", "'<think>'")
  expect(opens).not.toBe(steady)
  expect([opens, strips].map((fixed) => checked(steady, fixed).keepsReplies)).toEqual([false, true])
  // The empty think block before a last reply must remain.
  expect(checked(insertsThink, steady).keepsReplies).toBe(false)
})

test('the fix checker reports the costs of a change with both texts and the options', () => {
  expect(checked(insertsThink, steady).costs).toEqual([
    {
      where: 'last',
      before: '<think>\n\n</think>\n\n',
      after: '',
      options: [{}],
      text: 'A plain reply at the end of the conversation is written without "<think>\\n\\n</think>\\n\\n" (options as given).',
    },
  ])
  expect(checked(alias, alias.replace('<|endoftext|>', '<|im_end|>')).costs).toMatchObject([
    { where: 'earlier', before: '<|endoftext|>', after: '<|im_end|>' },
  ])
})

test('the fix checker accepts a last reply with the text that the generation prompt wrote before it', () => {
  const blocks = promptThinks.replace(
    '{{- message.content -}}',
    "{%- if message.role == 'assistant' and enable_thinking is defined and not enable_thinking -%}{{- '<think>\\n\\n</think>\\n\\n' -}}{%- endif -%}{{- message.content -}}",
  )
  expect(checked(promptThinks, blocks)).toMatchObject({
    keepsReplies: true,
    costs: [
      { where: 'last', options: [{ enable_thinking: false }] },
      { where: 'earlier', text: expect.stringContaining('with an additional "<think>') },
    ],
  })
})
