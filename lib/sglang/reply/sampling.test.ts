import { expect, test } from 'vitest'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'
import { samplingSchema, sentSampling } from './sampling.ts'

const refusal = (value: unknown): string => {
  const { error } = samplingSchema.safeParse(value)
  return error ? violationText(schemaViolation(error, value)) : 'taken'
}

test('the sampling request has the further parameters next to the known ones', () => {
  const request = samplingSchema.parse({ temperature: 0, further: { new_one: [1, { a: null }] } })
  expect(sentSampling(request)).toEqual({ temperature: 0, new_one: [1, { a: null }] })
  expect(sentSampling({})).toEqual({})
})

test.each([
  [{ max_tokens: 5 }, 'no key "max_tokens"'],
  [{ custom_logit_processor: 'x' }, 'no key "custom_logit_processor"'],
  [{ top_k: 0 }, 'top_k: expected a whole number from 1, or -1, found 0'],
  [{ further: { top_p: 1 } }, 'further.top_p: expected top_p next to "further", not inside it, found 1'],
  [{ further: { n: 2 } }, 'further.n: expected no n: Rollscope sets it'],
  [{ regex: 'a', ebnf: 'root ::= "a"' }, 'ebnf: expected empty, because regex is set, and only one grammar is allowed'],
  [{ json_schema: '{' }, 'json_schema: expected a JSON Schema'],
])('sampling parameters %j are refused', (value, words) => {
  expect(refusal(value)).toContain(words)
})
