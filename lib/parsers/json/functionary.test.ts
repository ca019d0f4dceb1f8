import { describe, expect, test } from 'vitest'
import type { ToolParser } from '../parser.ts'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { functionaryV31, functionaryV32 } from './functionary.ts'

/** Omits positions, which the delimiters make long. */
const drawn = (parser: ToolParser, text: string, tools: Parameters<typeof parseText>[2] = []) =>
  describeCalls(parseText(parser, text, tools)).map((line) => line.replace(/ @\d+$/, ''))
const rest = (parser: ToolParser, text: string) => textWithoutCalls(text, parseText(parser, text), [], parser)

describe.each([
  [functionaryV31, (name: string, json: string) => `<function=${name}>${json}</function>`],
  [functionaryV32, (name: string, json: string) => `>>>${name}\n${json}`],
] as const)('$name parser', (parser, call) => {
  test('parses calls with names, arguments and positions, also several in a row', () => {
    const text = `So.${call('add', '{"a": 1.0, "why": "</function>>>>g\\n{"}')}${call('my.tool-é', '{}')}`
    const calls = parseText(parser, text)
    expect(calls).toMatchObject([
      { kind: 'parsed', name: 'add', input: { a: 1, why: '</function>>>>g\n{' } },
      { kind: 'parsed', name: 'my.tool-é', input: {} },
    ])
    const [parsed] = calls
    if (parsed?.kind !== 'parsed') throw new Error('malformed')
    expect(textInRange(text, parsed.nameText)).toBe('add')
    expect(parsed.arguments.map(({ key, text: at }) => [textInRange(text, key), textInRange(text, at)])[0]).toEqual([
      '"a"',
      '1.0',
    ])
    expect(rest(parser, text)).toBe('So.')
  })

  test('ignores calls in a think block', () => {
    expect(drawn(parser, `<think>${call('f', '{}')}</think>${call('g', '{}')}`)).toEqual(['g({})'])
  })

  test.each([
    ['{"a": 1', '✗ the text ends where "," or "}" is expected'],
    ['{"a": 1, "a": 2}', '✗ "a" is given twice'],
    ['{"a": x}', '✗ "x" where a JSON value is expected'],
  ])('reports a call with %s as malformed and reads the next one', (json, why) => {
    const text = call('f', json).replace(/<\/function>$/, '')
    const [malformed, next] = parseText(parser, text + call('g', '{}'), [{ name: 'f', inputSchema: {} }])
    expect(malformed).toMatchObject({ kind: 'malformed', name: 'f' })
    expect(next).toMatchObject({ kind: 'parsed', name: 'g' })
    if (json !== '{"a": 1') expect(drawn(parser, call('f', json))).toEqual([why])
  })
})

describe('functionary_v31 parser reports as malformed', () => {
  test.each([
    ['<function=>{}</function>', '✗ the call has no name'],
    ['<function=my tool>{}</function>', '✗ "t" where ">" is expected'],
    ['<function=f></function>', '✗ what follows the name is empty'],
    [
      '<function=f><parameter=a>1</parameter></function>',
      '✗ what follows the name is not a JSON object: it starts with "<"',
    ],
    ['<function=f>{}', '✗ the call is not closed: no </function> follows'],
    ['<function=f>{} x</function>', '✗ unexpected text between the JSON and </function>'],
  ])('%s', (text, why) => {
    expect(drawn(functionaryV31, text)).toEqual([why])
  })
})

describe('functionary_v32 parser', () => {
  const tools = [{ name: 'f', inputSchema: {} }]

  test('reads the prompt’s first mark, and text with a recipient', () => {
    expect(drawn(functionaryV32, 'f\n{"a": 1}<|eot_id|>')).toEqual(['f({"a":1})'])
    const text = 'all\nOne moment.>>>f\n{"a": 1}>>>all\nDone.'
    expect(drawn(functionaryV32, text)).toEqual(['f({"a":1})'])
    expect(rest(functionaryV32, text)).toBe('One moment.Done.')
  })

  test('reads a line as a recipient if it names a tool or an object follows', () => {
    expect(drawn(functionaryV32, 'Sure\nthing. >>> x\n{1}', tools)).toEqual([])
    expect(drawn(functionaryV32, 'f\nprint(1)', tools)).toEqual([
      '✗ what follows the name is not a JSON object: it starts with "p"',
    ])
    expect(drawn(functionaryV32, 'f\nprint(1)')).toEqual([])
    expect(drawn(functionaryV32, '{"a": 1}\n{"b": 2}')).toEqual([])
    expect(drawn(functionaryV32, 'all\n{"b": 2}', tools)).toEqual([])
  })

  test('ends a call at the end of the turn', () => {
    expect(parseText(functionaryV32, 'f\n{"a": "x<|eot_id|>')).toMatchObject([
      { kind: 'malformed', name: 'f', why: 'a string is not closed', text: { start: 0, end: 10 } },
    ])
    expect(drawn(functionaryV32, 'f\n', tools)).toEqual(['✗ what follows the name is empty'])
  })
})
