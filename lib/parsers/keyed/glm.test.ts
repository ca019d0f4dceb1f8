import { describe, expect, test } from 'vitest'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { glm } from './glm.ts'

const drawn = (text: string, tools: readonly ToolSpec[] = []) => describeCalls(parseText(glm, text, tools))
const pair = (key: string, value: string) => `<arg_key>${key}</arg_key><arg_value>${value}</arg_value>`

describe('glm parser with a well-formed call', () => {
  test('returns positions with line breaks (4.5) and without (4.7, 5)', () => {
    const old =
      '<tool_call>add\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n<arg_key>b</arg_key>\n<arg_value>é x</arg_value>\n</tool_call>'
    const text = `So. ${old}<tool_call>add${pair('a', '1')}${pair('b', 'é x')}</tool_call> done`
    const calls = parseText(glm, text)
    expect(describeCalls(calls)).toEqual(['add({"a":1,"b":"é x"})', 'add({"a":1,"b":"é x"})'])
    for (const call of calls)
      expect(call.kind === 'parsed' && call.arguments.map(({ name, text: r }) => [name, textInRange(text, r)])).toEqual(
        [
          ['a', '1'],
          ['b', 'é x'],
        ],
      )
    expect(calls.map((call) => textInRange(text, call.text))).toEqual([old, text.slice(4 + old.length, -5)])
  })

  test('allows missing arguments', () => {
    expect(drawn('<tool_call>now</tool_call><tool_call>\nnow\n</tool_call>')).toEqual(['now({})', 'now({})'])
  })

  test('keeps a value unchanged', () => {
    expect(drawn(`<tool_call>f${pair('a', '\n x \n')}</tool_call>`)).toEqual(['f({"a":"\\n x \\n"})'])
    expect(drawn(`<tool_call>f${pair('a', '')}</tool_call>`)).toEqual(['f({"a":""})'])
  })

  test('allows other tags in a value', () => {
    expect(drawn(`<tool_call>f${pair('a', '</tool_call><tool_call><arg_key>')}</tool_call>`)).toEqual([
      'f({"a":"</tool_call><tool_call><arg_key>"})',
    ])
  })

  test('trims names, and refuses a repeated name', () => {
    expect(drawn(`<tool_call> f ${pair(' a\n', '1')}${pair('b', '2')}</tool_call>`)).toEqual(['f({"a":1,"b":2})'])
    expect(drawn(`<tool_call>f${pair('a', '1')}${pair(' a\n', '2')}</tool_call>`)).toEqual([
      expect.stringMatching(/^✗ "a" is given twice @/),
    ])
  })

  test('types values by the tool’s schema, and True is a text', () => {
    const properties = { a: { type: 'string' }, b: { type: 'boolean' } }
    const tools = [{ name: 'f', inputSchema: { properties } }]
    expect(drawn(`<tool_call>f${pair('a', '42')}${pair('b', 'true')}</tool_call>`, tools)).toEqual([
      'f({"a":"42","b":true})',
    ])
    expect(drawn(`<tool_call>f${pair('b', 'True')}</tool_call>`, tools)).toEqual([
      '✗ "b" is not of type boolean: "T" where a JSON value is expected @43',
    ])
  })
})

describe('glm parser with a malformed call', () => {
  test.each([
    ['', '✗ the call has no name @11'],
    [pair('a', '1'), '✗ the call has no name @11'],
    ['I will add', '✗ the name of the call contains white space @12'],
    ['f<b>', '✗ "<" where <arg_key> or </tool_call> is expected @12'],
    [`f${pair('a', '1')}x`, '✗ "x" where <arg_key> or </tool_call> is expected @56'],
    ['f<arg_key>a<arg_value>1</arg_value>', '✗ "<" where </arg_key> is expected @22'],
    ['f<arg_key> </arg_key><arg_value>1</arg_value>', '✗ <arg_key> is not followed by a name @22'],
    ['f<arg_key>a</arg_key>', '✗ "<" where <arg_value> is expected @32'],
    ['f<arg_value>1</arg_value>', '✗ "<" where <arg_key> or </tool_call> is expected @12'],
    ['f<arg_key>a</arg_key><arg_value>1', '✗ the value of "a" is not closed @43'],
    [`f<arg_key>a</arg_key><arg_value>1${pair('b', '2')}`, '✗ the value of "a" is not closed @43'],
  ])('reports the reason and position for %s', (body, line) => {
    expect(drawn(`<tool_call>${body}</tool_call>`)).toEqual([line])
  })

  test('ends it with the text', () => {
    expect(drawn('<tool_call>')).toEqual(['✗ the call has no name @11'])
    expect(drawn('<tool_call>f')).toEqual(['✗ the text ends where <arg_key> or </tool_call> is expected @12'])
    expect(drawn('<tool_call>f<arg_key>a')).toEqual(['✗ the text ends where </arg_key> is expected @22'])
  })

  test('keeps a readable name', () => {
    expect(parseText(glm, '<tool_call>f<b></tool_call>')).toMatchObject([{ kind: 'malformed', name: 'f' }])
    expect(parseText(glm, '<tool_call>f g</tool_call>')[0]).not.toHaveProperty('name')
  })

  test('keeps the good call after it', () => {
    const good = `<tool_call>g${pair('b', '2')}</tool_call>`
    for (const bad of ['<tool_call>f<arg_key>a</arg_key><arg_value>1</tool_call>', '<tool_call>f', '<tool_call>'])
      expect(drawn(`${bad}\n${good}`)[1]).toBe('g({"b":2})')
  })
})
