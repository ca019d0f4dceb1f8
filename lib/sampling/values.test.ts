import { describe, expect, test } from 'vitest'
import { allowedValuesOfKind } from './allowed-values.ts'
import { type SamplingName, samplingParameter } from './parameters.ts'
import { combinationProblem, furtherProblem, valueSchemas } from './values.ts'

describe('the schema of sampling values', () => {
  test.each<[SamplingName, readonly unknown[], readonly unknown[]]>([
    ['temperature', [0, 1e-7, 100], [-0.1, 100.1, Number.NaN, Number.POSITIVE_INFINITY, '1']],
    ['top_p', [1e-9, 1], [0, 1.01]],
    ['top_k', [-1, 1, 50], [0, -2, 1.5]],
    ['max_new_tokens', [1, 1_000_000], [0, 1_000_001, 2.5]],
    ['sampling_seed', [-5, 0, 2 ** 53 - 1], [0.5, 2 ** 53]],
    ['ignore_eos', [true, false], ['true', 1]],
    ['stop', [['a'], Array(32).fill('x')], [[''], Array(33).fill('x'), 'a']],
    ['stop_regex', [['é'.repeat(128)]], [['é'.repeat(129)], ['']]],
    ['stop_token_ids', [[0, 7]], [[-1], [1.5], ['7']]],
    ['logit_bias', [{ 5: -100, 6: 100 }], [{ a: 1 }, { 5: 101 }, { '-1': 0 }]],
    ['json_schema', ['{}', '{"type":"object"}', '$$ANY$$'], ['[]', 'x', '', 'null']],
    ['regex', ['a|b'], ['']],
    ['custom_params', [{}, { a: { b: 1 } }], ['{}', []]],
  ])('accepts %s within its bounds and refuses it beyond them', (name, good, bad) => {
    for (const value of good) expect(valueSchemas[name].safeParse(value).success).toBe(true)
    for (const value of bad) expect(valueSchemas[name].safeParse(value).success).toBe(false)
  })
})

test.each<[SamplingName, string]>([
  ['temperature', 'a number from 0 to 100'],
  ['top_p', 'a number above 0, up to 1'],
  ['top_k', 'a whole number from 1, or -1'],
  ['max_new_tokens', 'a whole number from 1 to 1,000,000'],
  ['sampling_seed', 'a whole number'],
  ['json_schema', 'a JSON Schema, a JSON object as text'],
  ['watermark', 'a JSON object'],
])('rangeText describes the range of %s in words', (name, words) => {
  expect(allowedValuesOfKind(samplingParameter(name))).toBe(words)
})

test('combinationProblem allows at most one grammar and no minimum above the maximum', () => {
  expect(combinationProblem({ regex: 'a', temperature: 1 })).toBeUndefined()
  expect(combinationProblem({ regex: 'a', json_schema: '{}' })).toMatchObject({ name: 'regex' })
  expect(combinationProblem({ min_new_tokens: 5, max_new_tokens: 5 })).toBeUndefined()
  expect(combinationProblem({ min_new_tokens: 6, max_new_tokens: 5 })).toMatchObject({ name: 'min_new_tokens' })
  expect(combinationProblem({ min_new_tokens: 6 })).toBeUndefined()
})

test('furtherProblem refuses names that have their own field', () => {
  expect(furtherProblem('new_in_0_6')).toBeUndefined()
  expect(furtherProblem('top_p')).toContain('next to "further"')
  expect(furtherProblem('n')).toContain('Rollscope sets it')
  expect(furtherProblem('custom_logit_processor')).toContain('code for the server')
})
