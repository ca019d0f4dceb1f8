import { expect, test } from 'vitest'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText } from '../test-draw.ts'
import { hunyuanFenced } from './hunyuan-fenced.ts'

const call = (json: string) => `<tool_call>f\n\`\`\`json\n${json}\n\`\`\`</tool_call>`
const section = (...calls: readonly string[]) => `<tool_calls>${calls.join('\n')}</tool_calls>`
const read = (text: string) => describeCalls(parseText(hunyuanFenced, text))

test('The parser of Hunyuan 0.5B and 7B reads fenced arguments, even if their texts have fences and tags', () => {
  const text = `So.${section(call('{"a": "```</tool_call>"}'), call('{}'))}`
  expect(read(text)).toEqual(['f({"a":"```</tool_call>"})', 'f({})'])
  expect(textWithoutCalls(text, parseText(hunyuanFenced, text), [], hunyuanFenced).trim()).toBe('So.')
})

test('The parser of Hunyuan 0.5B and 7B refuses a call without a fence or outside of a section', () => {
  expect(read(section('<tool_call>f\n{"a": 1}</tool_call>'))).toEqual([
    expect.stringContaining('"{" where a line ```json is expected'),
  ])
  expect(read(`${section()}${call('{}')}`)).toEqual([expect.stringContaining('<tool_calls> is missing')])
})

test('The parser of Hunyuan 0.5B and 7B reads no call of a text without a section, which may be of another format', () => {
  expect(read(call('{}'))).toEqual([])
})
