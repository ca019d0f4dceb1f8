import { describe, expect, test } from 'vitest'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { kimiK2 } from './kimi-k2.ts'

const BEGIN = '<|tool_calls_section_begin|>'
const END = '<|tool_calls_section_end|>'
const call = (id: string, json: string) =>
  `<|tool_call_begin|>${id}<|tool_call_argument_begin|>${json}<|tool_call_end|>`
const section = (...calls: readonly string[]) => `${BEGIN}${calls.join('')}${END}`
const drawn = (text: string) => describeCalls(parseText(kimiK2, text))
/** Omits positions, which the delimiters make long. */
const reasons = (text: string) => drawn(text).map((line) => line.replace(/ @\d+$/, ''))

describe('kimi_k2 parser with a well-formed call', () => {
  test('returns its id, name, arguments and positions', () => {
    const text = `So. ${section(call('functions.add:0', '{"a": 1.0, "b": "é"}'))} done`
    const [parsed] = parseText(kimiK2, text)
    expect(parsed).toMatchObject({ kind: 'parsed', name: 'add', writtenId: 'functions.add:0', input: { a: 1, b: 'é' } })
    expect(parsed && textInRange(text, parsed.text)).toBe(call('functions.add:0', '{"a": 1.0, "b": "é"}'))
    expect(parsed?.raw).toBe('functions.add:0<|tool_call_argument_begin|>{"a": 1.0, "b": "é"}')
    expect(
      parsed?.kind === 'parsed' && parsed.arguments.map(({ name, text: r }) => [name, textInRange(text, r)]),
    ).toEqual([
      ['a', '1.0'],
      ['b', '"é"'],
    ])
  })

  test('returns calls in order, in several sections, with text between', () => {
    const ids = Array.from({ length: 12 }, (_, index) => `functions.f:${index}`)
    const calls = parseText(
      kimiK2,
      `a ${section(...ids.map((id) => `\n${call(`\n${id}\n`, '\n{}\n')}, `))} b ${section(call('functions.f:0', '{}'))}`,
    )
    expect(calls.map(({ writtenId }) => writtenId)).toEqual([...ids, 'functions.f:0'])
    expect(calls.every(({ kind }) => kind === 'parsed')).toBe(true)
  })

  test.each([
    ['functions.add:0', 'add'],
    ['functions.add', 'add'],
    ['add:12', 'add'],
    ['add', 'add'],
    ['functions.a.b-c:1', 'a.b-c'],
    ['functions.server:tool:1', 'server:tool'],
    ['functions.a/b:1', 'a/b'],
    ['functions.für:1', 'für'],
    ['call_abc', 'call_abc'],
  ])('reads the name in %s as %s', (id, name) => {
    expect(parseText(kimiK2, section(call(id, '{}')))).toMatchObject([{ kind: 'parsed', name, writtenId: id }])
  })

  test('allows delimiters, also of sections, inside of a string', () => {
    const value = `${END}<|tool_call_end|>${BEGIN}<|tool_call_begin|>`
    const text = section(call('f', JSON.stringify({ a: value })), call('g', '{}'))
    expect(drawn(text)).toEqual([`f(${JSON.stringify({ a: value })})`, 'g({})'])
  })

  test('allows an unclosed section', () => {
    expect(drawn(BEGIN + call('f', '{}') + call('g', '{}'))).toEqual(['f({})', 'g({})'])
    expect(drawn(BEGIN + call('f', '{}') + section(call('g', '{}')))).toEqual(['f({})', 'g({})'])
    expect(reasons(`${BEGIN}${call('f', '{}')}<|tool_call_begin|>g`)).toEqual([
      'f({})',
      '✗ the text ends where <|tool_call_argument_begin|> is expected',
    ])
  })

  test('ignores calls and sections in a think block', () => {
    expect(drawn(`<think>${section(call('f', '{}'))}</think>${section(call('g', '{}'))}`)).toEqual(['g({})'])
    expect(drawn(`${BEGIN}<think>${END}${call('f', '{}')}</think>${call('g', '{}')}${END}`)).toEqual(['g({})'])
  })
})

describe('kimi_k2 parser with a malformed call', () => {
  test.each([
    [call('', '{}'), 'the call has no id'],
    [call('functions.:0', '{}'), 'the id "functions.:0" names no tool'],
    [call('f g', '{}'), '"g" where <|tool_call_argument_begin|> is expected'],
    [call('f<b>', '{}'), '"<" where <|tool_call_argument_begin|> is expected'],
    ['<|tool_call_begin|>f<|tool_call_end|>', '"<" where <|tool_call_argument_begin|> is expected'],
    [call('f', ''), 'what follows the id is empty'],
    [call('f', '[]'), 'what follows the id is not a JSON object: it starts with "["'],
    [call('f', 'null'), 'what follows the id is not a JSON object: it starts with "n"'],
    [call('f', '{"a": 1'), 'the text ends where "," or "}" is expected'],
    [call('f', '{"a": "1}'), 'a string is not closed'],
    [call('f', '{} {}'), 'unexpected text between the JSON and <|tool_call_end|>'],
    ['<|tool_call_begin|>f<|tool_call_argument_begin|>{}', 'the call is not closed: no <|tool_call_end|> follows'],
  ])('reports the reason and position for %s', (body, why) => {
    expect(reasons(section(body))).toEqual([`✗ ${why}`])
    expect(reasons(section(body, call('g', '{}')))).toEqual([`✗ ${why}`, 'g({})'])
  })

  test('keeps a readable id and name', () => {
    expect(parseText(kimiK2, section(call('functions.f:3', '')))).toMatchObject([
      { kind: 'malformed', name: 'f', writtenId: 'functions.f:3' },
    ])
    const [unnamed] = parseText(kimiK2, section(call('', '{}')))
    expect(unnamed).not.toHaveProperty('name')
    expect(unnamed).not.toHaveProperty('writtenId')
  })

  test('requires a section', () => {
    const outside = `the call is in no section: ${BEGIN} is missing`
    expect(reasons(call('f', '{}'))).toEqual([`✗ ${outside}`])
    expect(reasons(`${section()}${call('f', '{}')}`)).toEqual([`✗ ${outside}`])
    expect(reasons(BEGIN + call('f', '[]'))).toEqual([expect.stringContaining('is not a JSON object')])
    expect(parseText(kimiK2, call('functions.f:0', '{}'))).toMatchObject([{ name: 'f', writtenId: 'functions.f:0' }])
  })

  test('ends an unclosed call with its section', () => {
    const text = `${BEGIN}<|tool_call_begin|>f<|tool_call_argument_begin|>{"a": ${END} and on`
    expect(parseText(kimiK2, text).map((found) => textInRange(text, found.text))).toEqual([
      '<|tool_call_begin|>f<|tool_call_argument_begin|>{"a": ',
    ])
  })
})

test('kimi_k2 parser removes sections from the text without calls, except in think blocks', () => {
  const text = `a <think>${BEGIN}</think> ${BEGIN}b${call('f', JSON.stringify({ a: END }))}c${END} d`
  const calls = parseText(kimiK2, text)
  const think = { start: 2, end: text.indexOf('</think>') + 8 }
  expect(textWithoutCalls(text, calls, [think], kimiK2)).toBe(`a <think>${BEGIN}</think> bc d`)
})
