import { describe, expect, test } from 'vitest'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { kimiK3 } from './kimi-k3.ts'

const open = (tag: string) => `<|open|>${tag}<|sep|>`
const close = (tag: string) => `<|close|>${tag}<|sep|>`
const argument = (key: string, type: string, value: string) =>
  open(`argument key="${key}" type="${type}"`) + value + close('argument')
const call = (name: string, ...parts: readonly string[]) =>
  open(`call tool="${name}" index="1"`) + parts.join('') + close('call')
const section = (...calls: readonly string[]) => open('tools') + calls.join('') + close('tools')
/** Omits positions, which the tags make long. */
const drawn = (text: string) => describeCalls(parseText(kimiK3, text)).map((line) => line.replace(/ @\d+$/, ''))

describe('kimi_k3 parser with a well-formed call', () => {
  test('returns its name, arguments and positions', () => {
    const calls = section(call('add', argument('a', 'number', '25'), argument('why', 'string', ' é\n42 ')))
    const text = `${open('response')}So.${close('response')}${calls}${close('message')}`
    const [parsed] = parseText(kimiK3, text)
    expect(parsed).toMatchObject({ kind: 'parsed', name: 'add', input: { a: 25, why: ' é\n42 ' } })
    if (parsed?.kind !== 'parsed') throw new Error('malformed')
    expect(textInRange(text, parsed.nameText)).toBe('add')
    expect(parsed.arguments.map(({ key, text: range }) => [textInRange(text, key), textInRange(text, range)])).toEqual([
      ['a', '25'],
      ['why', ' é\n42 '],
    ])
    expect(textWithoutCalls(text, [parsed], [], kimiK3)).toBe('So.')
  })

  test('uses the written types of values, whatever the tool’s schema says', () => {
    const tools = [{ name: 'f', inputSchema: { properties: { a: { type: 'string' } } } }]
    const values = [
      argument('a', 'number', '1.5'),
      argument('b', 'boolean', 'true'),
      argument('c', 'null', 'null'),
      argument('d', 'object', '{"k": 1}'),
      argument('e', 'array', '[1]'),
      argument('f', 'integer', '7'),
    ]
    expect(describeCalls(parseText(kimiK3, section(call('f', ...values)), tools))).toEqual([
      'f({"a":1.5,"b":true,"c":null,"d":{"k":1},"e":[1],"f":7})',
    ])
  })

  test('decodes the escapes of attributes in names', () => {
    expect(drawn(section(call('a&amp;b', argument('x&quot;y', 'string', '&amp;'))))).toEqual(['a&b({"x\\"y":"&amp;"})'])
  })

  test('returns several in order, with or without an index, in a section that may stay unclosed', () => {
    const text = section(call('f'), call('g')) + open('tools') + open('call tool="h"') + close('call')
    expect(drawn(text)).toEqual(['f({})', 'g({})', 'h({})'])
  })

  test('ignores calls in a think block', () => {
    expect(drawn(`${open('think')}${section(call('f'))}${close('think')}${section(call('g'))}`)).toEqual(['g({})'])
  })
})

describe('kimi_k3 parser with a malformed call', () => {
  const or = '<|open|>argument or <|close|>call<|sep|>'
  test.each([
    [open('call') + close('call'), '<|open|>call is not followed by tool="…" index="…"<|sep|>'],
    [call(' '), 'the call has no name'],
    [call('f', 'text'), `"t" where ${or} is expected`],
    [call('f', argument('', 'number', '1')), '<|open|>argument is not followed by key="…" type="…"<|sep|>'],
    [call('f', argument('a', 'date', '1')), '<|open|>argument is not followed by key="…" type="…"<|sep|>'],
    [call('f', open('argument key="a" type="number"'), '1'), 'the value of "a" is not closed'],
    [call('f', argument('a', 'number', '1'), argument('a', 'number', '2')), '"a" is given twice'],
    [call('f', argument('a', 'number', 'true')), '"a" is not of type number'],
    [open('call tool="f" index="1"'), `"<" where ${or} is expected`],
  ])('reports the reason and position for %s', (body, why) => {
    expect(drawn(section(body))).toEqual([`✗ ${why}`])
    expect(drawn(section(body, call('g'))).at(-1)).toBe('g({})')
  })

  test('requires a section', () => {
    expect(drawn(call('f'))).toEqual(['✗ the call is in no section: <|open|>tools<|sep|> is missing'])
  })
})
