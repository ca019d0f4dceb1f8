import { expect, test } from 'vitest'
import { describeCalls, parseText } from '../test-draw.ts'
import { solarOpen2 } from './solar-open2.ts'

const tools = [
  { name: 'f', inputSchema: { type: 'object', properties: { text: { type: 'string' }, count: { type: 'integer' } } } },
]
const argument = (key: string, value: string) => `<|tool_arg:start|>${key}<|tool_arg:value|>${value}<|tool_arg:end|>\n`
const call = (...written: readonly string[]) => `<|tool_call:start|>f\n${written.join('')}<|tool_call:end|>`
const read = (text: string) => describeCalls(parseText(solarOpen2, text, tools))

test('The parser of Solar Open 2 reads names, keys and values, which have the types of the schema', () => {
  const text = `So.${call(argument('text', '7'), argument('count', '7'), argument('other', '{"a": [1]}'))}\n${call()}\n`
  expect(read(text)).toEqual(['f({"text":"7","count":7,"other":{"a":[1]}})', 'f({})'])
})

test('The parser of Solar Open 2 refuses an argument without a key, a value or an end', () => {
  expect(read(call(argument(' ', '7')))).toEqual([expect.stringContaining('is not followed by a name')])
  expect(read(call('<|tool_arg:start|>text<|tool_arg:end|>'))).toEqual([
    expect.stringContaining('"<" where <|tool_arg:value|> is expected'),
  ])
  expect(read(call('<|tool_arg:start|>text<|tool_arg:value|>7'))).toEqual([
    expect.stringContaining('the value of "text" is not closed'),
  ])
})
