import { expect, test } from 'vitest'
import { completionFit } from './completion-fit.ts'
import { fitReport } from './fit.ts'
import { isUnrelated } from './test-templates.ts'
import { toolsIn } from './tools.ts'

const tools = toolsIn(
  '[{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}}]',
)

function fitOf(completions: readonly string[], given = tools) {
  const reading = completionFit(completions, given)
  const progress: number[] = []
  let step = reading.next()
  for (; !step.done; step = reading.next()) progress.push(step.value)
  return { ...fitReport(undefined, step.value), scores: step.value.scores, progress }
}

const CALLS = {
  hermes: '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>',
  qwen_xml: '<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>',
  glm: '<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n</tool_call>',
  kimi_k2:
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>{"a": 1}<|tool_call_end|><|tool_calls_section_end|>',
}

test.each(Object.entries(CALLS))('completions in the form of %s rank that parser first', (name, call) => {
  for (const given of [tools, []]) {
    const { ranking, verdict } = fitOf(['no call here', call, `${call}${call}`], given)
    expect(ranking[0]).toMatchObject({ parser: name, score: 1 })
    expect(ranking.filter(isUnrelated)[1]?.score).toBeLessThan(0.6)
    expect(verdict).toMatch(
      name === 'qwen_xml'
        ? /^qwen_xml and mimo fit equally well: /
        : new RegExp(`^${name} fits: it reads 3 of 3 calls, in 2 of 3 completions\\.`),
    )
  }
})

test('the reasons of a fit report calls that are malformed, dropped, unknown, misfit or missed', () => {
  const { scores, ranking } = fitOf([
    CALLS.hermes,
    '<tool_call>{"name": "add", "id": 7, "arguments": {"a": 1}}</tool_call>',
    '<tool_call>{"name": "add", "arguments": {"a": "x"}}</tool_call>',
    '<tool_call>{"name": "mul", "arguments": {}}</tool_call>',
    '<tool_call>{"name": add}</tool_call>',
    `<think>${CALLS.hermes}</think>`,
    CALLS.kimi_k2,
  ])
  const reasons = (name: string) => ranking.find(({ parser }) => parser === name)?.completions?.reasons
  expect(reasons('hermes')).toEqual([
    'reads 4 of 5 calls, in 5 of 7 completions',
    '1 malformed, the first because: "a" where a JSON value is expected',
    'reads calls of undefined tools: "mul"',
    'reads arguments that do not fit their tool, the first of add: "a" is a string, the schema wants an integer',
    'drops 7 characters silently',
    '1 call only drafted in a think block',
    'misses 1 call that kimi_k2 finds',
  ])
  expect(reasons('kimi_k2')).toContain('misses 4 calls that hermes finds')
  expect(scores[0]?.missed).toEqual([{ completion: 6, parser: 'kimi_k2', calls: 1 }])
  expect(ranking[0]?.parser).toBe('hermes')
})

test('the fit does not count a name that no tool can have, as glm reads it in an unspaced hermes call', () => {
  const { ranking } = fitOf(['<tool_call>{"name":"add","arguments":{"a":1}}</tool_call>'], [])
  expect(ranking[0]).toMatchObject({ parser: 'hermes', score: 1 })
  expect(ranking.find(({ parser }) => parser === 'glm')?.completions).toMatchObject({
    score: 0,
    reasons: expect.arrayContaining([
      'reads names without a tool: "{\\"name\\":\\"add\\",\\"arguments\\":{\\"a\\":1}}"',
    ]),
  })
})

test('of parsers that read nothing, the fit ranks the one that reads furthest first', () => {
  const { ranking, verdict } = fitOf(['<tool_call>\n{"name": "add", "arguments": {"a": tru'])
  expect(ranking.map(({ score }) => score)).toEqual(ranking.map(() => 0))
  expect(ranking[0]?.parser).toBe('hermes')
  expect(verdict).toBe('No parser reads any of the calls in the completion.')
})

test('the fit of completions without calls says so, and of many completions yields progress', () => {
  const { verdict, progress } = fitOf(Array.from({ length: 120 }, () => 'hello'))
  expect(verdict).toBe('No parser finds a call in the completions.')
  expect(progress).toEqual([50, 100])
})
