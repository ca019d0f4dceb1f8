import { describe, expect, test } from 'vitest'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { thinkBlocks, thinkDelimitersIn } from '../thinking.ts'
import { llama3 } from './llama3.ts'

const TAG = '<|python_tag|>'
const tools = [{ name: 'now', inputSchema: {} }]
const drawn = (text: string) => describeCalls(parseText(llama3, text, tools))
const rest = (text: string) => textWithoutCalls(text, parseText(llama3, text, tools), [], llama3)

describe('llama3 parser with a well-formed call', () => {
  test('returns its name, arguments and positions', () => {
    const text = `So. ${TAG}{"name": "add", "parameters": {"a": 1.0, "b": "é"}}<|eom_id|>`
    const [call] = parseText(llama3, text)
    expect(call).toMatchObject({ kind: 'parsed', name: 'add', input: { a: 1, b: 'é' } })
    expect(call && textInRange(text, call.text)).toBe('{"name": "add", "parameters": {"a": 1.0, "b": "é"}}')
    expect(call?.kind === 'parsed' && call.arguments.map((one) => textInRange(text, one.text))).toEqual(['1.0', '"é"'])
    expect(rest(text)).toBe('So. <|eom_id|>')
  })

  test.each([
    [`${TAG}{"name": "f", "parameters": {}}; {"name": "g", "arguments": {"a": 1}}`, ['f({})', 'g({"a":1})'], ''],
    [`${TAG}\n{"name": "f", "parameters": {}}\n{"name": "g", "parameters": {}} ok`, ['f({})', 'g({})'], ' ok'],
    [`${TAG}{"name": "f"}${TAG}{"name": "g"}`, ['f({})', 'g({})'], ''],
    ['{"name": "f", "parameters": {}};{"name": "g", "parameters": {}}', ['f({})', 'g({})'], ''],
    ['\n{"type": "function", "name": "f", "parameters": {}}', ['f({})'], '\n'],
    ['{"name": "f", "parameters": {}, "arguments": {"a": 1}}', ['f({"a":1})'], ''],
    ['{"name": "now"}', ['now({})'], ''],
    [`${TAG}{"name": "f", "parameters": {"a": "${TAG}"}};`, [`f({"a":"${TAG}"})`], ';'],
  ])('reads %s', (text, calls, left) => {
    expect(drawn(text)).toEqual(calls)
    expect(rest(text)).toBe(left)
  })

  test('treats an answer in JSON as text unless it begins with a name and arguments or names a tool', () => {
    for (const text of ['{"answer": 42}', '{"name": "Bob", "age": 5}', '{"name": 1, "parameters": {}}', '{"a', '{'])
      expect([drawn(text), rest(text)]).toEqual([[], text])
    expect(drawn('{"name": "f", "parameters": {}}; {"b": 1}')).toEqual(['f({})'])
    expect(drawn('See {"name": "f", "parameters": {}}')).toEqual([])
  })

  test('reads calls after the content of Llama 4, whose tokens are no content', () => {
    const call = '{"name": "f", "parameters": {"a": 1}}'
    const text = `<|python_start|>So.<|python_end|>${call}${call}<|eot|>`
    expect(drawn(text)).toEqual(['f({"a":1})', 'f({"a":1})'])
    expect(rest(text)).toBe('So.<|eot|>')
    const code = '<|python_start|>print(1)<|python_end|> {"a": 1}'
    expect(drawn(code)).toEqual([])
    expect(rest(code)).toBe(code)
    expect(drawn(`<|python_start|>${call}`)).toEqual([])
  })

  test('reads a call after thinking and ignores one in it', () => {
    const call = '{"name": "f", "parameters": {}}'
    const text = `<think>${TAG}${call}</think>\n${call}`
    expect(drawn(text)).toEqual(['f({})'])
    const blocks = thinkBlocks(text, thinkDelimitersIn(text), false, llama3.delimiters)
    expect(textWithoutCalls(text, parseText(llama3, text), blocks, llama3)).toBe(`<think>${TAG}${call}</think>\n`)
  })
})

describe('llama3 parser with a malformed call', () => {
  test.each([
    [`${TAG}print(1)`, '✗ the call is not a JSON object: it starts with "p" @14'],
    [TAG, '✗ the call is empty @14'],
    [`${TAG}{"parameters": {}}`, '✗ the call has no "name" @14'],
    [`${TAG}{"name": "f", "parameters": "{}"}`, '✗ "parameters" is not a JSON object @42'],
    ['{"name": "f", "parameters": {', '✗ the text ends where a member name in double quotes is expected @29'],
    ["{'name': 'f'}", '✗ "\'" where a member name in double quotes is expected @1'],
    ['{"name": "f", "parameters": "x', '✗ a string is not closed @30'],
  ])('reports the reason and position for %s', (text, why) => {
    expect(drawn(text)).toEqual([why])
    expect(drawn(`${text}<|eot_id|>`)).toHaveLength(1)
    expect(rest(`${text}<|eot_id|>`)).toMatch(/<\|eot_id\|>$/)
  })

  test('keeps a readable name and the good call after the next tag', () => {
    const text = `${TAG}{"name": "f", "parameters": {${TAG}{"name": "g"}`
    expect(parseText(llama3, text)).toMatchObject([
      { kind: 'malformed', name: 'f' },
      { kind: 'parsed', name: 'g' },
    ])
    expect(parseText(llama3, `${TAG}{"name": "f"};{"name": "g", "arguments": 1}`)).toMatchObject([
      { kind: 'parsed' },
      { kind: 'malformed', name: 'g' },
    ])
  })
})
