import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { gemmaJson } from './gemma-value.ts'
import { functionGemma, gemma4 } from './gemma4.ts'

const drawn = (text: string) => describeCalls(parseText(gemma4, text))
const call = (name: string, body: string) => `<|tool_call>call:${name}{${body}}<tool_call|>`
const quoted = (text: string) => `<|"|>${text}<|"|>`

describe('gemma4 parser with a well-formed call', () => {
  test('returns its name, arguments and positions', () => {
    const text = `So. ${call('get_weather', `city:${quoted('Zürich "alt"')},days:3`)}<|tool_response>`
    const [parsed] = parseText(gemma4, text)
    expect(parsed).toMatchObject({ kind: 'parsed', name: 'get_weather', input: { city: 'Zürich "alt"', days: 3 } })
    expect(parsed && textInRange(text, parsed.text)).toBe(text.slice(4, -'<|tool_response>'.length))
    expect(parsed?.raw).toBe(`call:get_weather{city:${quoted('Zürich "alt"')},days:3}`)
    if (parsed?.kind !== 'parsed') throw new Error('malformed')
    expect(textInRange(text, parsed.nameText)).toBe('get_weather')
    expect(parsed.arguments.map(({ key, text: r }) => [textInRange(text, key), textInRange(text, r)])).toEqual([
      ['city', 'Zürich "alt"'],
      ['days', '3'],
    ])
  })

  test('reads values of every type, nested, and null as older templates write it', () => {
    const body = `a:true,b:false,c:null,d:None,e:-1.5e-3,f:[],g:{},h:[1,${quoted('x')},[{k:${quoted('}')}}]],i:{j:{k:2}}`
    expect(drawn(call('f', body))).toEqual([
      'f({"a":true,"b":false,"c":null,"d":null,"e":-0.0015,"f":[],"g":{},"h":[1,"x",[{"k":"}"}]],"i":{"j":{"k":2}}})',
    ])
  })

  test('allows white space outside of texts, several calls, and text between', () => {
    const text = `<|tool_call> call: f { a : [ 1 , 2 ] , b : { } } <tool_call|> and ${call('g', '')}`
    expect(drawn(text)).toEqual(['f({"a":[1,2],"b":{}})', 'g({})'])
  })

  test('allows quoted keys, whose range excludes the quotes', () => {
    const text = call('f', `${quoted('a:b')}:1,c d:2`)
    expect(drawn(text)).toEqual(['f({"a:b":1,"c d":2})'])
    const [parsed] = parseText(gemma4, text)
    expect(parsed?.kind === 'parsed' && parsed.arguments.map(({ key }) => textInRange(text, key))).toEqual([
      'a:b',
      'c d',
    ])
  })

  test('keeps a text unchanged, also with the delimiters of calls', () => {
    const value = ' \\n{"a"}: <tool_call|>\n<|tool_call>call:g{} '
    expect(drawn(call('f', `a:${quoted(value)}`) + call('g', ''))).toEqual([
      `f(${JSON.stringify({ a: value })})`,
      'g({})',
    ])
  })

  test('keeps an argument named __proto__ as data', () => {
    const [parsed] = parseText(gemma4, call('f', '__proto__:{x:1}'))
    expect(parsed?.kind === 'parsed' && Object.hasOwn(parsed.input, '__proto__')).toBe(true)
  })

  test('ignores calls in the channel of thoughts', () => {
    expect(drawn(`<|channel>thought\n${call('f', '')}<channel|>${call('g', '')}`)).toEqual(['g({})'])
  })
})

describe('gemma4 parser with a malformed call', () => {
  test.each([
    ['', '✗ "<" where call: is expected @12'],
    ['{"name": "f"}', '✗ "{" where call: is expected @12'],
    ['call:{}', '✗ the call has no name @17'],
    ['call:f g{}', '✗ the name of the call contains white space @17'],
    ['call:f', '✗ the arguments are missing: the text ends where "{" is expected @18'],
    ['call:f{', '✗ the text ends where a name is expected @19'],
    ['call:f{:1}', '✗ ":" where a name is expected @19'],
    ['call:f{a}', '✗ "}" where ":" is expected @20'],
    ['call:f{a', '✗ the text ends where ":" is expected @20'],
    ['call:f{a:}', '✗ "}" where a number, true, false, null or <|"|> is expected @21'],
    ['call:f{a:Paris}', '✗ "P" where a number, true, false, null or <|"|> is expected @21'],
    ['call:f{a:01}', '✗ "0" where a number, true, false, null or <|"|> is expected @21'],
    ['call:f{a:1e999}', '✗ a number is larger than any that can be represented @21'],
    ['call:f{a:1', '✗ the text ends where "," or "}" is expected @22'],
    ['call:f{a:1,}', '✗ "}" where a name is expected @23'],
    ['call:f{a:1 b:2}', '✗ "b" where "," or "}" is expected @23'],
    ['call:f{a:1,a:2}', '✗ "a" is given twice @23'],
    ['call:f{a:{b:1,b:2}}', '✗ "b" is given twice @26'],
    ['call:f{a:[1 2]}', '✗ "2" where "," or "]" is expected @24'],
    ['call:f{a:[1', '✗ the text ends where "," or "]" is expected @23'],
    ['call:f{a:[', '✗ the text ends where a number, true, false, null or <|"|> is expected @22'],
    ['call:f{a:<|"|>x}', '✗ a string is not closed @28'],
    ['call:f{<|"|>x}', '✗ a string is not closed @26'],
    ['call:f{} x', '✗ unexpected text between the arguments and <tool_call|> @20'],
  ])('reports the reason and position for %s', (body, line) => {
    expect(drawn(`<|tool_call>${body}<tool_call|>`)).toEqual([line])
    expect(drawn(`<|tool_call>${body}<tool_call|>${call('g', '')}`)).toEqual([line, 'g({})'])
  })

  test('ends an unclosed call at the next call or with the text', () => {
    expect(drawn('<|tool_call>call:f{a:1}')).toEqual(['✗ the call is not closed: no <tool_call|> follows @23'])
    expect(drawn(`<|tool_call>call:f{a:1}${call('g', '')}`)[1]).toBe('g({})')
    expect(drawn('<|tool_call>call:f{a:<|"|>x')).toEqual(['✗ a string is not closed @27'])
    expect(drawn('<|tool_call>')).toEqual(['✗ the text ends where call: is expected @12'])
  })

  test('keeps a readable name', () => {
    expect(parseText(gemma4, '<|tool_call>call:f{a')).toMatchObject([{ kind: 'malformed', name: 'f' }])
    expect(parseText(gemma4, '<|tool_call>f{}')[0]).not.toHaveProperty('name')
  })
})

/** Writes a value as the templates of Gemma 4 do. */
function written(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, member]) => `${quoted(key)}:${written(member)}`)
    .join(',')}}`
}

test('gemma4 parser reads back any JSON object written as arguments', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (input) => {
      const json = JSON.parse(JSON.stringify(input))
      expect(parseText(gemma4, `<|tool_call>call:f${written(json)}<tool_call|>`)).toMatchObject([
        { kind: 'parsed', name: 'f', input: json },
      ])
    }),
  )
})

test('gemmaJson keeps the digits of a number', () => {
  expect(gemmaJson(`{a:2.0,b:[${quoted('x')},None]}`)).toBe('{"a": 2.0, "b": ["x", null]}')
  expect(['1,b:2', '1}', 'x', ''].map(gemmaJson)).toEqual(Array(4).fill(undefined))
})

describe('functiongemma parser', () => {
  const open = '<start_function_call>call:f'
  const close = '<end_function_call>'
  const properties = {
    n: { type: 'integer' },
    flag: { type: 'boolean' },
    list: { type: 'array' },
    text: { type: 'string' },
  }
  const tools = [{ name: 'f', inputSchema: { properties } }]
  const escaped = (value: string) => `<escape>${value}<escape>`

  test('returns calls and their positions', () => {
    const text = `So. ${open}{city:${escaped('Zürich "alt"')},days:3,nested:{k:[${escaped('x')},true]}}${close}`
    const [parsed] = parseText(functionGemma, text)
    expect(parsed).toMatchObject({ name: 'f', input: { city: 'Zürich "alt"', days: 3, nested: { k: ['x', true] } } })
    expect(parsed && textInRange(text, parsed.text)).toBe(text.slice(4))
  })

  test('decodes a text where the schema allows none, as vLLM’s template writes every value', () => {
    const values = { n: '500', flag: 'True', list: "['a', 1]", text: '42' }
    const body = Object.entries(values).map(([key, value]) => `${key}:${escaped(value)}`)
    const text = `${open}{${body.join(',')}}${close}`
    expect(describeCalls(parseText(functionGemma, text, tools))).toEqual([
      'f({"n":500,"flag":true,"list":["a",1],"text":"42"})',
    ])
    expect(describeCalls(parseText(functionGemma, text))).toEqual([`f(${JSON.stringify(values)})`])
  })

  test('keeps a text that is not of the type, and what has no quotes', () => {
    expect(
      describeCalls(
        parseText(functionGemma, `${open}{n:${escaped('many')},flag:false}${close}${open}{n:x}${close}`, tools),
      ),
    ).toEqual([
      'f({"n":"many","flag":false})',
      expect.stringMatching(/^✗ "x" where a number, .* or <escape> is expected @/),
    ])
  })
})
