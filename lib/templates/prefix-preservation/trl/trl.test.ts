import { expect, test } from 'vitest'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import type { TrlVerdict } from '../report.ts'
import { dropsCalls, insertsThink, steady } from '../test-templates.ts'
import { markTokenizer, readTrlGolden, type TrlAnswer, trlTemplate } from './test-trl.ts'
import { trlVerdict } from './trl.ts'

const asked = (template: string): TrlVerdict =>
  trlVerdict({ template: chatTemplate(template, {}), tokenizer: byteTokenizer })

test('the TRL verdict equals TRL’s own for 142 real templates', () => {
  const { templates } = readTrlGolden()
  const kindOf = ({ supported, preserving, error }: TrlAnswer): TrlVerdict['kind'] =>
    error ? 'failed' : supported === false ? 'notAsked' : preserving ? 'preserving' : 'rewritten'
  for (const [name, answer] of Object.entries(templates)) {
    const verdict = trlVerdict({ template: trlTemplate(answer), tokenizer: markTokenizer(answer.marks) })
    expect([name, verdict.kind]).toEqual([name, kindOf(answer)])
  }
  expect(Object.keys(templates)).toHaveLength(142)
})

test('the TRL verdict on a prefix-preserving template has the number of ids that are kept', () => {
  expect(asked(steady)).toEqual({ kind: 'preserving', tokens: expect.any(Number) })
})

test('the TRL verdict on a template that rewrites the call has both sides from the first token that differs', () => {
  const verdict = asked(insertsThink)
  if (verdict.kind !== 'rewritten') throw new Error(verdict.kind)
  const from = ({ start, tokens }: typeof verdict.before): unknown => tokens[verdict.tokenIndex - start]?.piece
  expect([from(verdict.before), from(verdict.after)]).toEqual(['<think>', '\n'])
})

test('the TRL verdict is notAsked for a template that prints no calls or refuses them', () => {
  expect(asked(dropsCalls)).toEqual({
    kind: 'notAsked',
    why: 'The template does not print the name and the argument names and the argument values of a tool call.',
  })
  expect(asked(`{{- raise_exception('no tools here') -}}`)).toEqual({
    kind: 'notAsked',
    why: 'The template refuses a conversation with a call and its result: no tools here',
  })
})

test('the TRL verdict contains an error that TRL does not expect', () => {
  expect(asked(`{{- messages.nothing() -}}`).kind).toBe('notAsked')
  expect(asked(`{{- 1 / 0 -}}`)).toMatchObject({ kind: 'failed', failure: { className: 'ZeroDivisionError' } })
})

test('the TRL verdict gives arguments as JSON to a template that takes no objects', () => {
  expect(asked(steady.replace("' + (call.function.arguments | tojson)", "' + call.function.arguments")).kind).toBe(
    'preserving',
  )
})
