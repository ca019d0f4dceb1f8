import { describe, expect, test } from 'vitest'
import { markupIn, textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { solarOpen } from './solar-open.ts'

const call = (name: string, json: string, id = 'a1b2c3d4e5') =>
  `<|tool_call:begin|>${id}<|tool_call:name|>${name}<|tool_call:args|>${json}<|tool_call:end|>`
const section = (...calls: readonly string[]) => `<|tool_calls|>${calls.join('')}<|calls|>`
const drawn = (text: string) => describeCalls(parseText(solarOpen, text)).map((line) => line.replace(/ @\d+$/, ''))

describe('solar_open parser with a well-formed call', () => {
  test('returns its name, arguments, positions and written id', () => {
    const text = `<|content|>So.<|end|><|begin|>assistant${section(call('add', '{"a": 1.0}'), call('f', '{}', 'f6g7h8i9j0'))}`
    const calls = parseText(solarOpen, text)
    expect(calls).toMatchObject([
      { kind: 'parsed', name: 'add', input: { a: 1 }, writtenId: 'a1b2c3d4e5' },
      { kind: 'parsed', name: 'f', input: {}, writtenId: 'f6g7h8i9j0' },
    ])
    const [parsed] = calls
    if (parsed?.kind !== 'parsed') throw new Error('malformed')
    expect(textInRange(text, parsed.nameText)).toBe('add')
    expect(textWithoutCalls(text, calls, [], solarOpen)).toBe('So.')
    expect(markupIn(text, calls, [], solarOpen).map(({ kind, ...range }) => [kind, textInRange(text, range)])).toEqual([
      ['between', '<|content|>'],
      ['between', '<|end|>'],
      ['open', '<|begin|>assistant<|tool_calls|>'],
      ['close', '<|calls|>'],
    ])
  })

  test('allows a missing id and an unclosed section', () => {
    const text = section(call('f', '{}', ''))
    expect(parseText(solarOpen, text)).toEqual([expect.not.objectContaining({ writtenId: expect.anything() })])
    expect(drawn(text.slice(0, -'<|calls|>'.length))).toEqual(['f({})'])
  })

  test('ignores calls in thinking', () => {
    expect(drawn(`<|think|>${section(call('f', '{}'))}<|end|><|begin|>assistant${section(call('g', '{}'))}`)).toEqual([
      'g({})',
    ])
  })
})

describe('solar_open parser with a malformed call', () => {
  test.each([
    ['<|tool_call:begin|>a<|tool_call:end|>', '✗ "<" where <|tool_call:name|> is expected'],
    ['<|tool_call:begin|>', '✗ "<" where <|tool_call:name|> is expected'],
    [call('', '{}'), '✗ the call has no name'],
    [call('', '{}', ''), '✗ the call has no name'],
    ['<|tool_call:begin|>a<|tool_call:name|>f<|tool_call:end|>', '✗ "<" where <|tool_call:args|> is expected'],
    [call('f', '[1]'), '✗ what follows the name is not a JSON object: it starts with "["'],
    [call('f', '{}').replace('<|tool_call:end|>', ''), '✗ the call is not closed: no <|tool_call:end|> follows'],
  ])('reports the reason for %s', (body, why) => {
    expect(drawn(section(body))).toEqual([why])
    expect(drawn(section(body, call('g', '{}'))).at(-1)).toBe('g({})')
  })

  test('requires a section', () => {
    expect(drawn(call('f', '{}'))).toEqual(['✗ the call is in no section: <|tool_calls|> is missing'])
  })
})
