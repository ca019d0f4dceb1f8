import { describe, expect, test } from 'vitest'
import { growingCalls } from '../growing-calls.ts'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { mistral } from './mistral.ts'

const drawn = (text: string) => describeCalls(parseText(mistral, text)).map((line) => line.replace(/ @\d+$/, ''))
const rest = (text: string) => textWithoutCalls(text, parseText(mistral, text), [], mistral)

describe('mistral parser with a list of calls', () => {
  test('returns ids, arguments and positions', () => {
    const text =
      'So. [TOOL_CALLS] [{"name": "add", "arguments": {"a": 1.0}, "id": "abc123XYZ"}, {"name": "f", "parameters": {}}]</s>'
    const calls = parseText(mistral, text)
    expect(calls).toMatchObject([
      { kind: 'parsed', name: 'add', input: { a: 1 }, writtenId: 'abc123XYZ', ignored: [] },
      { kind: 'parsed', name: 'f', input: {} },
    ])
    expect(calls.map((call) => textInRange(text, call.text))[1]).toBe('{"name": "f", "parameters": {}}')
    expect(rest(text)).toBe('So. </s>')
  })

  test('allows any white space, an empty list, and the mark in a text', () => {
    expect(drawn('[TOOL_CALLS][\n{"name": "f"}\n,\n{"name": "g"}\n]')).toEqual(['f({})', 'g({})'])
    expect([drawn('a[TOOL_CALLS] []b'), rest('a[TOOL_CALLS] []b')]).toEqual([[], 'ab'])
    expect(drawn('[TOOL_CALLS] [{"name": "f", "arguments": {"a": "[TOOL_CALLS]</s>"}}]')).toHaveLength(1)
    expect(drawn('[THINK][TOOL_CALLS] [{"name": "f"}][/THINK][TOOL_CALLS] [{"name": "g"}]')).toEqual(['g({})'])
  })

  test('drops an id that templates refuse', () => {
    for (const id of ['"call_1"', '7', '"abc-12345"']) {
      const [call] = parseText(mistral, `[TOOL_CALLS] [{"name": "f", "arguments": {}, "id": ${id}}]`)
      expect(call).toMatchObject({ kind: 'parsed', ignored: [{}] })
      expect(call).not.toHaveProperty('writtenId')
    }
  })

  test.each([
    ['[{"name": "f"}', ['✗ the list of calls could not be parsed: the text ends where "," or "]" is expected']],
    [
      '[{"name": "f"} x]',
      [
        '✗ the list of calls could not be parsed: "x" where "," or "]" is expected',
        '✗ "x" where "," or "]" is expected',
      ],
    ],
    [
      '[{"name": "f"}, 1]',
      [
        '✗ the list of calls could not be parsed: the call is not a JSON object: it starts with "1"',
        '✗ the call is not a JSON object: it starts with "1"',
      ],
    ],
    ['[{"name": "f", "id": "abc123XYZ"},', ['✗ the list of calls could not be parsed: the call is empty']],
    ['[{"name": "f", "arguments": {', ['✗ the text ends where a member name in double quotes is expected']],
    ['[', ['✗ the call is empty']],
    ['[{"arguments": {}}]', ['✗ the call has no "name"']],
    ['[{"name": "f", "arguments": []}]', ['✗ "arguments" is not a JSON object']],
  ])('reports %s as malformed', (list, why) => {
    expect(drawn(`[TOOL_CALLS] ${list}`)).toEqual(why)
    const behind = drawn(`[TOOL_CALLS] ${list}[TOOL_CALLS] [{"name": "g"}]`)
    expect(behind.at(-1)).toBe('g({})')
  })
})

describe('mistral parser with one call after each mark', () => {
  test('returns its id, arguments and positions', () => {
    const text = '[TOOL_CALLS]add[CALL_ID]abc123XYZ[ARGS]{"a": 1.0}[TOOL_CALLS]f [ARGS] {} done'
    const calls = parseText(mistral, text)
    expect(calls).toMatchObject([
      { kind: 'parsed', name: 'add', input: { a: 1 }, writtenId: 'abc123XYZ' },
      { kind: 'parsed', name: 'f', input: {} },
    ])
    expect(calls.map((call) => textInRange(text, call.text))).toEqual([
      '[TOOL_CALLS]add[CALL_ID]abc123XYZ[ARGS]{"a": 1.0}',
      '[TOOL_CALLS]f [ARGS] {}',
    ])
    expect(rest(text)).toBe(' done')
    expect(parseText(mistral, '[TOOL_CALLS]f[CALL_ID]short[ARGS]{}')[0]).not.toHaveProperty('writtenId')
  })

  test.each([
    ['', '✗ neither a list of calls nor a name follows'],
    ['{"name": "f"}', '✗ neither a list of calls nor a name follows'],
    ['f {"a": 1', '✗ the text ends where "," or "}" is expected'],
    ['f[CALL_ID]abc123XYZ', '✗ the text ends where [ARGS] is expected'],
    ['f', '✗ the text ends where [ARGS] is expected'],
    ['f[ARGS]', '✗ what follows [ARGS] is empty'],
    ['f[ARGS][1]', '✗ what follows [ARGS] is not a JSON object: it starts with "["'],
    ['f[ARGS]{"a": 1', '✗ the text ends where "," or "}" is expected'],
  ])('reports %s as malformed', (body, why) => {
    expect(drawn(`[TOOL_CALLS]${body}`)).toEqual([why])
    expect(drawn(`[TOOL_CALLS]${body}[TOOL_CALLS]g[ARGS]{}`)).toHaveLength(2)
    expect(rest(`[TOOL_CALLS]${body}</s>`)).toBe('</s>')
  })

  test('allows a missing [ARGS] before an object', () => {
    const text = 'So [TOOL_CALLS]add{"a": 1}[TOOL_CALLS]f[CALL_ID]abc123XYZ {} done'
    expect(drawn(text)).toEqual(['add({"a":1})', 'f({})'])
    expect(rest(text)).toBe('So  done')
    expect(growingCalls(mistral, { text, start: 3, shielded: [], tools: [] })).toEqual([
      { name: 'add', arguments: '{"a":1}', hasEnded: true },
      { name: 'f', arguments: '{}', hasEnded: true },
    ])
  })

  test('keeps a readable name', () => {
    expect(parseText(mistral, '[TOOL_CALLS]f[ARGS]')).toMatchObject([{ kind: 'malformed', name: 'f' }])
    expect(parseText(mistral, '[TOOL_CALLS] {"name": "g"')).toMatchObject([{ kind: 'malformed', name: 'g' }])
    expect(parseText(mistral, '[TOOL_CALLS] [{"name": "g", "arguments": 1}]')).toMatchObject([{ name: 'g' }])
  })
})
