import { expect, test } from 'vitest'
import { parseAnswerSchema, parseRequestSchema, parseText } from './parse.ts'
import type { Problem } from './problem.ts'

const parse = (request: unknown) => {
  const answer = parseText(parseRequestSchema.parse(request))
  expect(parseAnswerSchema.parse(answer)).toEqual(answer)
  return answer.results
}

test('every parser reads the text, when none is named', () => {
  const text = 'a <tool_call>{"name": "f", "arguments": {"x": "é"}}</tool_call> b'
  const [hermes, ...others] = parse({ text })
  expect(hermes).toEqual({
    parser: 'hermes',
    calls: [
      {
        kind: 'parsed',
        id: 'call_0000',
        name: 'f',
        input: { x: 'é' },
        arguments: [{ name: 'x', span: { start: text.indexOf('"é"'), end: text.indexOf('"é"') + 3 } }],
        raw: '{"name": "f", "arguments": {"x": "é"}}',
        span: { start: 2, end: text.length - 2 },
      },
    ],
    rest: 'a  b',
  })
  expect(others.map(({ parser, calls, rest }) => [parser, calls.map(({ kind }) => kind), rest])).toEqual([
    ['qwen_xml', ['malformed'], 'a  b'],
    ['glm', ['malformed'], 'a  b'],
    ['kimi_k2', [], text],
  ])
})

test('a malformed call has its reason and place, and the id that was written', () => {
  const text =
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:3<|tool_call_argument_begin|>[]<|tool_call_end|><|tool_calls_section_end|>.'
  expect(parse({ text, parsers: ['kimi_k2'] })).toMatchObject([
    {
      calls: [{ kind: 'malformed', id: 'call_0000', writtenId: 'functions.f:3', name: 'f', at: text.indexOf('[]') }],
      rest: '.',
    },
  ])
})

test('tools type the values', () => {
  const text = '<tool_call>f<arg_key>a</arg_key><arg_value>42</arg_value></tool_call>'
  const tools = [{ name: 'f', inputSchema: { properties: { a: { type: 'string' } } } }]
  expect(parse({ text, parsers: ['glm'], tools })).toMatchObject([{ calls: [{ input: { a: '42' } }] }])
})

test('what stands in a think block is no call', () => {
  const text = '<think><tool_call>{"name": "f"}</tool_call></think>'
  expect(parse({ text, parsers: ['hermes'] })).toEqual([{ parser: 'hermes', calls: [], rest: text }])
})

test('a parser that is not there is refused, with those that are', () => {
  let details: Problem['details'] | undefined
  try {
    parse({ text: '', parsers: ['llama3'] })
  } catch (error) {
    details = (error as Problem).details
  }
  expect(details).toMatchObject({ status: 422, code: 'NO_PARSER', hint: 'Parsers: hermes, qwen_xml, glm, kimi_k2.' })
  expect(parseRequestSchema.safeParse({ text: '', parsers: [] }).success).toBe(false)
  expect(parseRequestSchema.safeParse({ text: '', parsers: Array(5).fill('hermes') }).success).toBe(false)
})
