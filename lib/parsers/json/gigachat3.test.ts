import { describe, expect, test } from 'vitest'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { gigachat3 } from './gigachat3.ts'

const TOKEN = '<|function_call|>'
const MESSAGE = '<|message_sep|>\n\nfunction call<|role_sep|>\n'
const drawn = (text: string) => describeCalls(parseText(gigachat3, text)).map((line) => line.replace(/ @\d+$/, ''))

describe.each([
  ['3.1', TOKEN, TOKEN],
  ['3.0', MESSAGE, 'function call<|role_sep|>\n'],
])('gigachat3 parser with the format of GigaChat %s', (_, before, own) => {
  test('parses a call with its name, arguments and positions, apart from the text', () => {
    const object = '{"name": "add", "arguments": {"a": 25, "why": "<|message_sep|>"}}'
    const text = `So.${before}${object}<|message_sep|>\n\n`
    const [parsed] = parseText(gigachat3, text)
    expect(parsed).toMatchObject({ kind: 'parsed', name: 'add', input: { a: 25, why: '<|message_sep|>' } })
    if (parsed?.kind !== 'parsed') throw new Error('malformed')
    expect(textInRange(text, parsed.text)).toBe(own + object)
    expect(textInRange(text, parsed.nameText)).toBe('"add"')
    expect(parsed.arguments.map(({ key, text: range }) => [textInRange(text, key), textInRange(text, range)])).toEqual([
      ['"a"', '25'],
      ['"why"', '"<|message_sep|>"'],
    ])
    expect(textWithoutCalls(text, [parsed], [], gigachat3)).toBe('So.')
  })

  test('parses a call before another call, before text and before the end of the reply', () => {
    const call = `${before}{"name": "f", "arguments": {}}`
    expect(drawn(`${call}${call}</s>`)).toEqual(['f({})', 'f({})'])
    const text = `${call} done</s>`
    expect(textWithoutCalls(text, parseText(gigachat3, text), [], gigachat3)).toBe(' done')
  })

  test.each([
    ['', '✗ the call is empty'],
    ['f()', '✗ the call is not a JSON object: it starts with "f"'],
    ['{"arguments": {}}', '✗ the call has no "name"'],
    ['{"name": "f", "arguments": [1]}', '✗ "arguments" is not a JSON object'],
    ['{"name": "f", "arguments": {"a": 1, "a": 2}}', '✗ "a" is given twice'],
    ['{"name": "f", "arguments": {"a": 1}', '✗ the text ends where "," or "}" is expected'],
    ['{"name": "f", "arguments": {"a": "x', '✗ a string is not closed'],
  ])('reports a malformed call with the reason and reads the next one: %s', (body, why) => {
    const good = `${before}{"name": "g", "arguments": {}}`
    expect(drawn(before + body)).toEqual([why])
    expect(drawn(`${before}${body}<|message_sep|>\n\n${good}`).at(-1)).toBe('g({})')
    expect(drawn(before + body + good).at(-1)).toBe('g({})')
  })

  test('keeps the name of a truncated call', () => {
    expect(parseText(gigachat3, `${before}{"name": "f", "arg`)).toMatchObject([{ kind: 'malformed', name: 'f' }])
  })
})
