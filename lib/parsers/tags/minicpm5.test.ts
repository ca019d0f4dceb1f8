import { describe, expect, test } from 'vitest'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { minicpm5 } from './minicpm5.ts'

const param = (name: string, value: string) => `<param name="${name}">${value}</param>`
const call = (name: string, ...params: readonly string[]) => `<function name="${name}">${params.join('')}</function>`
const drawn = (text: string, type?: string) =>
  describeCalls(
    parseText(minicpm5, text, type ? [{ name: 'f', inputSchema: { properties: { a: { type } } } }] : []),
  ).map((line) => line.replace(/ @\d+$/, ''))

describe('minicpm5 parser with a well-formed call', () => {
  test('returns its name, arguments and positions anywhere in the text', () => {
    const text = `So.${call('add', param('a', '25'), param('why', '<![CDATA[</param> &amp; é]]>'))} done`
    const [parsed] = parseText(minicpm5, text)
    expect(parsed).toMatchObject({ kind: 'parsed', name: 'add', input: { a: 25, why: '</param> &amp; é' } })
    if (parsed?.kind !== 'parsed') throw new Error('malformed')
    expect(textInRange(text, parsed.nameText)).toBe('add')
    expect(parsed.arguments.map(({ key, text: range }) => [textInRange(text, key), textInRange(text, range)])).toEqual([
      ['a', '25'],
      ['why', '</param> &amp; é'],
    ])
    expect(textWithoutCalls(text, [parsed], [], minicpm5)).toBe('So. done')
  })

  test.each([
    ['a &lt; b &amp;amp; c & d', undefined, '"a < b &amp; c & d"'],
    ['True', 'boolean', 'true'],
    ['None', 'null', 'null'],
    ["['a', None]", 'array', '["a",null]'],
    ["{'k': True}", 'object', '{"k":true}'],
    ['[1]', 'array', '[1]'],
    ["{'k': 1}", undefined, '"{\'k\': 1}"'],
    ['True', 'string', '"True"'],
  ])('reads values of XML and of Python: %s as %s', (written, type, json) => {
    expect(drawn(call('f', param('a', written)), type)).toEqual([`f({"a":${json}})`])
  })

  test('ignores calls in a think block', () => {
    expect(drawn(`<think>${call('f')}</think>${call('g')}${call('h')}`)).toEqual(['g({})', 'h({})'])
  })
})

describe('minicpm5 parser with a malformed call', () => {
  const or = '<param or </function>'
  test.each([
    ['<function></function>', undefined, '<function is not followed by name="…">'],
    [call(' '), undefined, 'the call has no name'],
    [call('f', 'text'), undefined, `"t" where ${or} is expected`],
    [call('f', '<param>1</param>'), undefined, '<param is not followed by name="…">'],
    [call('f', '<param name="a">1'), undefined, 'the value of "a" is not closed'],
    [call('f', '<param name="a"><![CDATA[1</param>'), undefined, 'the value of "a" is not closed'],
    [call('f', '<param name="a"><![CDATA[1]]>2</param>'), undefined, 'the value of "a" is not closed'],
    [call('f', param('a', '1'), param('a', '2')), undefined, '"a" is given twice'],
    [
      call('f', param('a', '[1e999]')),
      'array',
      '"a" is not of type array: a number is larger than any that can be represented',
    ],
    [call('f', param('a', "['x']")), 'object', '"a" is not of type object: "\'" where a JSON value is expected'],
    [call('f', param('a', '&lt;')), 'integer', '"a" is not of type integer: "<" where a JSON value is expected'],
    ['<function name="f">', undefined, `"<" where ${or} is expected`],
  ])('reports the reason for %s', (body, type, why) => {
    expect(drawn(body + call('g'), type)).toEqual([`✗ ${why}`, 'g({})'])
  })
})
