import { expect, test } from 'vitest'
import { describeCalls, parseText } from '../test-draw.ts'
import { longcat } from './longcat.ts'

const tools = [
  { name: 'f', inputSchema: { type: 'object', properties: { text: { type: 'string' }, count: { type: 'integer' } } } },
]
const argument = (key: string, value: string) =>
  `<longcat_arg_key>${key}</longcat_arg_key>\n<longcat_arg_value>${value}</longcat_arg_value>\n`
const read = (text: string) => describeCalls(parseText(longcat, text, tools))

test('The parser of LongCat reads names and values between tags, as the templates of LongCat 2.0 and Flash Lite write them', () => {
  const call = `<longcat_tool_call>f\n${argument('text', '7')}${argument('count', '7')}</longcat_tool_call>\n`
  expect(read(`So.${call}${call}<longcat_tool_call>f\n</longcat_tool_call>`)).toEqual([
    'f({"text":"7","count":7})',
    'f({"text":"7","count":7})',
    'f({})',
  ])
})

test('The parser of LongCat reads JSON objects, as LongCat Flash Chat writes them, even if their texts have the tags of values', () => {
  const value = argument('text', '7').replaceAll('\n', '')
  const call = `<longcat_tool_call>\n{"name": "f", "arguments": {"text": "${value}"}}\n</longcat_tool_call>`
  expect(read(`${call}\n${call}`)).toEqual([`f({"text":"${value}"})`, `f({"text":"${value}"})`])
})

test('The parser of LongCat refuses a call of the other form than the first', () => {
  const keyed = `<longcat_tool_call>f\n${argument('count', '7')}</longcat_tool_call>`
  const json = '<longcat_tool_call>{"name": "f", "arguments": {}}</longcat_tool_call>'
  expect(read(keyed + json)).toEqual(['f({"count":7})', expect.stringMatching(/^✗/)])
  expect(read(json + keyed)).toEqual(['f({})', expect.stringMatching(/^✗/)])
})
