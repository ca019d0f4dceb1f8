import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_JSON_DEPTH } from '#lib/json/json-scan.ts'
import type { ParsedCall, TextRange } from '../parser.ts'
import { describeCalls as drawCalls, textInRange } from '../test-draw.ts'
import { hermes, interns1 } from './hermes.ts'

const draw = (text: string, shielded: readonly TextRange[] = []) => drawCalls(hermes.parse(text, shielded, []))

const call = (body: string) => `<tool_call>\n${body}\n</tool_call>`
const good = call('{"name": "add", "arguments": {"a": 1}}')

describe('hermes parser with a well-formed call', () => {
  test('returns its name, arguments, raw text and positions', () => {
    const text = `Let me see. ${call('{"name": "add", "arguments": {"a": 1.0, "b": "x"}}')} done`
    const [parsed] = hermes.parse(text, [], []) as [Extract<ParsedCall, { kind: 'parsed' }>]
    expect(parsed).toMatchObject({ kind: 'parsed', name: 'add', input: { a: 1, b: 'x' } })
    expect(parsed.raw).toBe('\n{"name": "add", "arguments": {"a": 1.0, "b": "x"}}\n')
    expect(textInRange(text, parsed.text)).toBe(call('{"name": "add", "arguments": {"a": 1.0, "b": "x"}}'))
    expect(parsed.arguments.map(({ name, text: range }) => [name, textInRange(text, range)])).toEqual([
      ['a', '1.0'],
      ['b', '"x"'],
    ])
  })

  test('returns several in order', () => {
    expect(draw(good + good)).toEqual(['add({"a":1})', 'add({"a":1})'])
  })

  test('allows missing arguments', () => {
    expect(draw(call('{"name": "now"}'))).toEqual(['now({})'])
  })

  test('allows the delimiters inside of a string', () => {
    expect(draw(call('{"name": "say", "arguments": {"t": "</tool_call><tool_call>"}}'))).toEqual([
      'say({"t":"</tool_call><tool_call>"})',
    ])
  })

  test('keeps a member named __proto__ as data', () => {
    const [parsed] = hermes.parse(call('{"name": "f", "arguments": {"__proto__": {"x": 1}}}'), [], [])
    expect(parsed?.kind === 'parsed' && Object.hasOwn(parsed.input, '__proto__')).toBe(true)
    expect(({} as { x?: number }).x).toBeUndefined()
  })

  test('reads "parameters" as arguments, like SGLang', () => {
    const text = call('{"name": "add", "parameters": {"a": 1, "b": 2}, "id": 7}')
    expect(draw(text)).toEqual(['add({"a":1,"b":2})'])
    const [parsed] = hermes.parse(text, [], [])
    expect(parsed?.kind === 'parsed' && parsed.arguments.map((range) => textInRange(text, range.text))).toEqual([
      '1',
      '2',
    ])
    expect(parsed?.kind === 'parsed' && parsed.ignored.map((range) => textInRange(text, range))).toEqual(['"id": 7'])
  })

  test('allows both arguments and parameters if one of them is empty', () => {
    expect(draw(call('{"name": "f", "parameters": {"a": 1}, "arguments": { }}'))).toEqual(['f({"a":1})'])
    expect(draw(call('{"name": "f", "parameters": {}, "arguments": {"a": 1}}'))).toEqual(['f({"a":1})'])
    expect(draw(call('{"name": "f", "parameters": {}, "arguments": {}}'))).toEqual(['f({})'])
  })
})

describe('hermes parser with a malformed call', () => {
  test.each([
    ['', '✗ the call is empty @11'],
    ['add(1)', '✗ the call is not a JSON object: it starts with "a" @11'],
    ['[]', '✗ the call is not a JSON object: it starts with "[" @11'],
    ['{"name": "add", "arguments": {"a": 1}', '✗ the text ends where "," or "}" is expected @48'],
    ['{"name": "add", "arguments": {"a": True}}', '✗ "T" where a JSON value is expected @46'],
    ['{"name": "add", "arguments": {"a": NaN}}', '✗ "N" where a JSON value is expected @46'],
    ['{"name": "add", "arguments": {"a": 01}}', '✗ "1" where "," or "}" is expected @47'],
    ['{"name": "add", "arguments": {"a": 1,}}', '✗ "}" where a member name in double quotes is expected @48'],
    ["{'name': 'add'}", '✗ "\'" where a member name in double quotes is expected @12'],
    ['{"name": "add", "arguments": "{}"}', '✗ "arguments" is not a JSON object @40'],
    ['{"name": "add", "arguments": null}', '✗ "arguments" is not a JSON object @40'],
    [
      '{"name": "f", "arguments": {"a": 1}, "parameters": {"a": 2}}',
      '✗ both "arguments" and "parameters" are given @48',
    ],
    ['{"name": "f", "parameters": [1]}', '✗ "parameters" is not a JSON object @39'],
    ['{"name": "f", "name": "g"}', '✗ "name" is given twice @25'],
    ['{"name": "f", "arguments": {}, "arguments": {}}', '✗ "arguments" is given twice @42'],
    ['{"name": "f", "arguments": {"a": 1, "b": 2, "\\u0061": 3}}', '✗ "a" is given twice @55'],
    ['{"name": "f", "arguments": {"x": [{"a": {"b": 1, "b": 1}}]}}', '✗ "b" is given twice @60'],
    ['{"name": 3, "arguments": {}}', '✗ "name" is not a text @20'],
    ['{"name": " ", "arguments": {}}', '✗ "name" is not a text @20'],
    ['{"arguments": {}}', '✗ the call has no "name" @0'],
    ['{"name": "add", "arguments": {"a": "x\ny"}}', '✗ a line break inside a string must be escaped @48'],
    ['{"name": "add", "arguments": {"a": "\\x"}}', '✗ \\"x" is not a JSON escape @47'],
    ['{"name": "add", "arguments": {"a": "\\u12"}}', '✗ \\u is not followed by four hexadecimal digits @47'],
    ['{"name": "add", "arguments": {"a": "x}}', '✗ a string is not closed @50'],
    ['{"name": "add", "arguments": {"a": [1 2]}}', '✗ "2" where "," or "]" is expected @49'],
    ['{"name": "add", "arguments": {"a": "x\\', '✗ a string is not closed @49'],
    ['{"name": "add", "arguments": {"a": "\u0007"}}', '✗ U+0007 inside a string must be escaped @47'],
    ['{"name": "add" "x": 1}', '✗ """ where "," or "}" is expected @26'],
    ['{"name" "add"}', '✗ """ where ":" is expected @19'],
    ['{"a": {"b" 1}}', '✗ "1" where ":" is expected @22'],
    ['{"a": {"b": 1, 2}}', '✗ "2" where a member name in double quotes is expected @26'],
    ['{"a": {"b": tru}}', '✗ "t" where a JSON value is expected @23'],
    ['{"a": [1, {"b": [], "c": {}}, null, -1.5e+3, "\\u00e9"]}', '✗ the call has no "name" @0'],
    ['{"a": {', '✗ the text ends where a member name in double quotes is expected @18'],
    ['{"a": {"b"', '✗ the text ends where ":" is expected @21'],
    ['{"a"', '✗ the text ends where ":" is expected @15'],
    ['{"a": [', '✗ the text ends where a JSON value is expected @18'],
    ['{"a": 1', '✗ the text ends where "," or "}" is expected @18'],
    ['{"a": {"b": "', '✗ a string is not closed @24'],
    ['{"a": {"', '✗ a string is not closed @19'],
    ['{"a": 12345', '✗ the text ends where "," or "}" is expected @22'],
    ['{}', '✗ the call has no "name" @0'],
    ['{"name": "add"} extra', '✗ unexpected text between the JSON and </tool_call> @26'],
  ])('reports the reason and position for %s', (body, drawn) => {
    expect(draw(`<tool_call>${body}</tool_call>`)).toEqual([drawn])
  })

  test('keeps a readable name', () => {
    expect(hermes.parse(call('{"name": "add", "arguments": {'), [], [])[0]).toMatchObject({
      kind: 'malformed',
      name: 'add',
    })
    expect(hermes.parse(call('nothing'), [], [])[0]).not.toHaveProperty('name')
  })

  test('ends a call without closing delimiter with the text', () => {
    const text = 'x <tool_call>\n{"name": "add", "arguments": {"a": "1'
    expect(draw(text)).toEqual(['✗ a string is not closed @51'])
    expect(draw('<tool_call>{"name": "add"}')).toEqual(['✗ the call is not closed: no </tool_call> follows @26'])
  })

  test('keeps the good call after it', () => {
    expect(draw(`<tool_call>{"name": "x", ${good}`)).toHaveLength(2)
    expect(draw(`<tool_call>{"name": "x", ${good}`)[1]).toBe('add({"a":1})')
    expect(draw(call('{"name": "x", "arguments": {"a": "1}}') + good)[1]).toBe('add({"a":1})')
    expect(draw(`<tool_call>{"a": "</tool_call>"} and ${good}`)).toEqual([
      '✗ a string is not closed @18',
      'add({"a":1})',
    ])
  })

  test('refuses deep nesting', () => {
    const deep = (n: number) => call(`{"name": "f", "arguments": {"a": ${'['.repeat(n)}${']'.repeat(n)}}}`)
    expect(draw(deep(MAX_JSON_DEPTH - 2))[0]).toMatch(/^f/)
    expect(draw(deep(100_000))).toEqual([expect.stringContaining(`✗ nested deeper than ${MAX_JSON_DEPTH} levels`)])
  })
})

test('hermes parser ignores calls in a think block', () => {
  const text = `<think>${good}</think>${good}`
  expect(draw(text, [{ start: 0, end: text.indexOf('</think>') + 8 }])).toEqual(['add({"a":1})'])
  expect(draw(text)).toHaveLength(2)
})

test('hermes parser reads back any JSON object written as a call', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1 }).filter((s) => s.trim() !== ''),
      fc.dictionary(fc.string(), fc.jsonValue()),
      (name, input) => {
        const json = JSON.parse(JSON.stringify(input))
        expect(hermes.parse(call(JSON.stringify({ name, arguments: json })), [], [])).toMatchObject([
          { kind: 'parsed', name, input: json },
        ])
      },
    ),
  )
})

describe('interns1 parser', () => {
  const drawn = (text: string) => drawCalls(interns1.parse(text, [], []))

  test('reads calls after the token of plugins, with and without a space between the tokens', () => {
    expect(
      drawn(
        'Hi.<|action_start|> <|plugin|>\n{"name": "f", "parameters": {"a": 1}}<|action_end|>\n<|action_start|><|plugin|>{"name": "g"}<|action_end|>',
      ),
    ).toEqual(['f({"a":1})', 'g({})'])
  })

  test('reports another kind of action', () => {
    expect(drawn('<|action_start|><|interpreter|>\nprint(1)<|action_end|>')).toEqual([
      '✗ "<" where <|plugin|> is expected @16',
    ])
  })
})
