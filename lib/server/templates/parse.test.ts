import { expect, test } from 'vitest'
import { parserNames } from '#lib/parsers/registry.ts'
import type { HttpProblem } from '../http/problem.ts'
import { parseAnswerSchema, parseRequestSchema, parseRequestText } from './parse.ts'

const parse = (request: unknown) => {
  const answer = parseRequestText(parseRequestSchema.parse(request))
  expect(parseAnswerSchema.parse(answer)).toEqual(answer)
  return answer.results
}

test('The parse route uses every parser if the request names none', () => {
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
    dropped: [],
    thinking: [],
  })
  expect(others.map(({ parser, calls, rest }) => [parser, calls.map(({ kind }) => kind), rest])).toEqual([
    ['qwen_xml', ['malformed'], 'a  b'],
    ['glm', ['malformed'], 'a  b'],
    ...parserNames.slice(3).map((name) => (name === 'mimo' ? [name, ['malformed'], 'a  b'] : [name, [], text])),
  ])
})

test('The parse route reports a malformed call with its reason, its position and the id that the model wrote', () => {
  const text =
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.f:3<|tool_call_argument_begin|>[]<|tool_call_end|><|tool_calls_section_end|>.'
  expect(parse({ text, parsers: ['kimi_k2'] })).toMatchObject([
    {
      calls: [{ kind: 'malformed', id: 'call_0000', writtenId: 'functions.f:3', name: 'f', at: text.indexOf('[]') }],
      rest: '.',
    },
  ])
})

test('The parse route names text that belongs to neither calls nor rest, and arguments that do not fit the schema', () => {
  const text = '<tool_call>\n{"name": "f", "id": 7, "arguments": {"a": 2}}\n</tool_call>'
  const tools = [{ name: 'f', inputSchema: { properties: { a: { type: 'string' } } } }]
  expect(parse({ text, parsers: ['hermes'], tools })).toMatchObject([
    {
      calls: [{ input: { a: 2 }, fault: '"a" is an integer, the schema wants a string' }],
      dropped: [{ start: text.indexOf('"id"'), end: text.indexOf(', "arguments"'), why: 'an unused member' }],
    },
  ])
})

test('The parse route reports line and column of a fault', () => {
  const text = 'é\n<tool_call>\n💡{}</tool_call>'
  expect(parse({ text, parsers: ['hermes'] })).toMatchObject([{ calls: [{ at: 14, line: 3, column: 1 }] }])
})

test('The parse route types values by the schemas of the tools', () => {
  const text = '<tool_call>f<arg_key>a</arg_key><arg_value>42</arg_value></tool_call>'
  const tools = [{ name: 'f', inputSchema: { properties: { a: { type: 'string' } } } }]
  expect(parse({ text, parsers: ['glm'], tools })).toMatchObject([{ calls: [{ input: { a: '42' } }] }])
})

test('The parse route finds no call in a think block', () => {
  const text = '<think><tool_call>{"name": "f"}</tool_call></think>'
  expect(parse({ text, parsers: ['hermes'] })).toEqual([
    {
      parser: 'hermes',
      calls: [],
      rest: text,
      dropped: [],
      thinking: [{ start: 0, end: text.length, closed: true }],
    },
  ])
})

test('The parse route refuses an unknown parser and names the existing ones', () => {
  let details: HttpProblem['details'] | undefined
  try {
    parse({ text: '', parsers: ['no_such_parser'] })
  } catch (error) {
    details = (error as HttpProblem).details
  }
  expect(details).toMatchObject({ status: 422, code: 'NO_PARSER', hint: `Parsers: ${parserNames.join(', ')}.` })
  expect(parseRequestSchema.safeParse({ text: '', parsers: [] }).success).toBe(false)
  expect(
    parseRequestSchema.safeParse({ text: '', parsers: Array(parserNames.length + 1).fill('hermes') }).success,
  ).toBe(false)
})
