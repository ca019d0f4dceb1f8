import { expect, test } from 'vitest'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText } from '../test-draw.ts'
import { step3 } from './step3.ts'

const call = (name: string, body: string) =>
  `<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="${name}">${body}</steptml:invoke><｜tool_call_end｜>`
const section = (...calls: readonly string[]) => `<｜tool_calls_begin｜>\n${calls.join('\n')}\n<｜tool_calls_end｜>`
const parameter = (name: string, value: string) => `<steptml:parameter name="${name}">${value}</steptml:parameter>`

test('step3 parser reads calls by the schema of the tool, and their markup is no content', () => {
  const tools = [{ name: 'f', inputSchema: { properties: { a: { type: 'integer' }, b: { type: 'string' } } } }]
  const text = `So. ${section(call('f', `\n${parameter('a', '1')}\n${parameter('b', '2')}\n`), call('g', ''))}`
  const calls = parseText(step3, text, tools)
  expect(describeCalls(calls)).toEqual(['f({"a":1,"b":"2"})', 'g({})'])
  expect(textWithoutCalls(text, calls, [], step3).trim()).toBe('So.')
})

test('step3 parser reads the words of Python that its chat template writes, where the schema names their types', () => {
  const properties = { a: { type: 'boolean' }, b: { type: ['integer', 'null'] }, c: { type: 'string' } }
  const body = `${parameter('a', 'True')}${parameter('b', 'None')}${parameter('c', 'False')}`
  const calls = parseText(step3, section(call('f', body)), [{ name: 'f', inputSchema: { properties } }])
  expect(describeCalls(calls)).toEqual(['f({"a":true,"b":null,"c":"False"})'])
})

test('step3 parser requires a section, and reports an unclosed value', () => {
  expect(describeCalls(parseText(step3, call('f', '')))).toEqual([
    expect.stringMatching(/^✗ the call is in no section: <｜tool_calls_begin｜> is missing/),
  ])
  expect(describeCalls(parseText(step3, section(call('f', '<steptml:parameter name="a">1'), call('g', ''))))).toEqual([
    expect.stringMatching(/^✗ the value of "a" is not closed/),
    'g({})',
  ])
})
