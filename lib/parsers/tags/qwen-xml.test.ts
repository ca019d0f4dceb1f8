import { describe, expect, test } from 'vitest'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { frogboss, mimo, qwenXml, seedOss } from './qwen-xml.ts'

const drawn = (text: string, tools: readonly ToolSpec[] = []) => describeCalls(parseText(qwenXml, text, tools))
const parameter = (name: string, value: string) => `<parameter=${name}>\n${value}\n</parameter>\n`
const call = (name: string, ...parameters: readonly string[]) =>
  `<tool_call>\n<function=${name}>\n${parameters.join('')}</function>\n</tool_call>`
const tool = (properties: object, more: object = {}): ToolSpec[] => [
  { name: 'f', inputSchema: { type: 'object', properties, ...more } },
]

describe('qwen_xml parser with a well-formed call', () => {
  test('returns its name, arguments and positions', () => {
    const text = `So. ${call('add', parameter('a', '25'), parameter('why', 'é\n\n💡'))} done`
    const [parsed] = parseText(qwenXml, text)
    expect(parsed).toMatchObject({ kind: 'parsed', name: 'add', input: { a: 25, why: 'é\n\n💡' } })
    expect(parsed && textInRange(text, parsed.text)).toBe(text.slice(4, -5))
    expect(parsed?.raw).toBe(text.slice(4 + '<tool_call>'.length, -5 - '</tool_call>'.length))
    expect(
      parsed?.kind === 'parsed' && parsed.arguments.map(({ name, text: r }) => [name, textInRange(text, r)]),
    ).toEqual([
      ['a', '25'],
      ['why', 'é\n\n💡'],
    ])
  })

  test('allows one line, no arguments, and several calls in order', () => {
    expect(
      drawn(
        '<tool_call><function=f><parameter=a>x</parameter></function></tool_call><tool_call><function=g></function></tool_call>',
      ),
    ).toEqual(['f({"a":"x"})', 'g({})'])
  })

  test('removes one line break at each end of a value and nothing else', () => {
    expect(drawn(call('f', parameter('a', '  x \n')))).toEqual(['f({"a":"  x \\n"})'])
    expect(drawn(call('f', parameter('a', '\nx\n')))).toEqual(['f({"a":"\\nx\\n"})'])
    expect(
      drawn('<tool_call><function=f><parameter=a>\n</parameter><parameter=b></parameter></function></tool_call>'),
    ).toEqual(['f({"a":"","b":""})'])
  })

  test('allows the delimiters of calls and functions in a value', () => {
    expect(drawn(call('f', parameter('a', '</tool_call></function><tool_call>')) + call('g'))).toEqual([
      'f({"a":"</tool_call></function><tool_call>"})',
      'g({})',
    ])
  })

  test('keeps a parameter named __proto__ as data', () => {
    const [parsed] = parseText(qwenXml, call('f', parameter('__proto__', '{"x": 1}')))
    expect(parsed?.kind === 'parsed' && Object.hasOwn(parsed.input, '__proto__')).toBe(true)
  })

  test('ends a value without closing tag at the next parameter or with its function', () => {
    expect(drawn(call('f', '<parameter=a>\n1\n', '<parameter=b>\n x \n'))).toEqual(['f({"a":1,"b":" x "})'])
    expect(drawn('<tool_call><function=f><parameter=a>1</function></tool_call>')).toEqual(['f({"a":1})'])
    expect(drawn('<tool_call><function=f><parameter=a><parameter=b>2</parameter></function></tool_call>')).toEqual([
      'f({"a":"","b":2})',
    ])
    const text = call('f', '<parameter=a>\n1\n', parameter('b', '2'))
    const [parsed] = parseText(qwenXml, text)
    expect(parsed?.kind === 'parsed' && parsed.arguments.map((a) => textInRange(text, a.text))).toEqual(['1', '2'])
  })

  test('keeps a value without closing tag out of the next call', () => {
    const text = `<tool_call><function=f><parameter=a>1</function></tool_call>${call('g', parameter('b', '2'))}`
    expect(drawn(text)).toEqual(['f({"a":1})', 'g({"b":2})'])
    expect(drawn(`${text.slice(0, text.indexOf('<tool_call>', 1))}${call('g')} </parameter> and on`)).toEqual([
      'f({"a":1})',
      'g({})',
    ])
  })

  test('trims names, not values', () => {
    expect(drawn('<tool_call><function= f ><parameter= a b > x </parameter></function></tool_call>')).toEqual([
      'f({"a b":" x "})',
    ])
  })
})

describe('qwen_xml parser with a malformed call', () => {
  test.each([
    ['', '✗ the text ends where <function= is expected @11', '<tool_call>'],
    ['', '✗ "<" where <function= is expected @11'],
    ['{"name": "f"}', '✗ "{" where <function= is expected @11'],
    ['so: <function=f></function>', '✗ "s" where <function= is expected @11'],
    ['<function=></function>', '✗ <function= is not followed by a name @21'],
    ['<function=f', '✗ <function= is not closed by ">" @22'],
    ['<function=f\n><', '✗ "<" where <parameter= or </function> is expected @24'],
    ['<function=f g></function>', '✗ the name of the call contains white space @11'],
    ['<function=f>x</function>', '✗ "x" where <parameter= or </function> is expected @23'],
    ['<function=f><parameter=a\nb>1</parameter></function>', '✗ <parameter= is not closed by ">" @37'],
    ['<function=f><parameter=a</parameter></function>', '✗ <parameter= is not closed by ">" @35'],
    ['<function=f><parameter=>1</parameter></function>', '✗ <parameter= is not followed by a name @34'],
    ['<function=f><parameter=a>1', '✗ the value of "a" is not closed @36'],
    ['<function=f><parameter=a>1</tool_call></function>', '✗ the value of "a" is not closed @36'],
    [
      '<function=f><parameter=a><function=g><parameter=b>2</parameter></function>',
      '✗ the value of "a" is not closed @36',
    ],
    ['<function=f><parameter=a>1</parameter>\n<parameter=a>2</parameter></function>', '✗ "a" is given twice @61'],
    ['<function=f></function><function=g></function>', '✗ "<" where </tool_call> is expected @34'],
    ['<function=f></function> and', '✗ "a" where </tool_call> is expected @35'],
  ])('reports the reason and position for %s', (body, line, text = `<tool_call>${body}</tool_call>`) => {
    expect(drawn(text)).toEqual([line])
  })

  test('keeps a readable name', () => {
    expect(parseText(qwenXml, call('f', '<parameter=a'))).toMatchObject([{ kind: 'malformed', name: 'f' }])
    expect(parseText(qwenXml, call(''))[0]).not.toHaveProperty('name')
  })

  test('refuses other tags of the format in a value without closing tag', () => {
    const text = '<tool_call><function=f><parameter=a>'
    expect(drawn(`${text}1<tool_call>${text.slice(11)}2</parameter></function></tool_call>`)).toEqual([
      '✗ the value of "a" is not closed @36',
      'f({"a":2})',
    ])
  })

  test('keeps the good call after it', () => {
    const good = call('g', parameter('b', '2'))
    for (const bad of [
      '<tool_call><function=f><parameter=a>1</function> </tool_call',
      '<tool_call><function=f><parameter=a>1',
      '<tool_call><function=f>',
      '<tool_call>',
      '<tool_call><function=f></function>',
    ])
      expect(drawn(`${bad}\n${good}`)[1]).toBe('g({"b":2})')
  })

  test('treats a value that extends over the end of its call as unclosed if the call fails', () => {
    const text = `<tool_call><function=f><parameter=a>1 </tool_call>${call('g')} </parameter> and on`
    expect(drawn(text)).toEqual(['✗ the value of "a" is not closed @36', 'g({})'])
  })
})

describe('qwen_xml parser with the tool’s schema', () => {
  const typed = (schema: unknown, value: string, more: object = {}) =>
    drawn(call('f', parameter('a', value)), tool({ a: schema }, more))[0]

  test.each([
    [{ type: 'string' }, '42', '"42"'],
    [{ type: 'string' }, 'null', '"null"'],
    [{ type: 'string' }, '"x"', '"\\"x\\""'],
    [{ type: 'string' }, '  def f():\n    pass\n', '"  def f():\\n    pass\\n"'],
    [{ type: 'integer' }, '42', '42'],
    [{ type: 'integer' }, '4.0', '4'],
    [{ type: 'number' }, ' 4 ', '4'],
    [{ type: 'number' }, '4.5', '4.5'],
    [{ type: 'boolean' }, 'true', 'true'],
    [{ type: 'boolean' }, 'True', 'true'],
    [{ type: 'boolean' }, 'False', 'false'],
    [{ type: 'null' }, 'null', 'null'],
    [{ type: ['string', 'null'] }, 'None', 'null'],
    [{ type: ['string', 'null'] }, 'x', '"x"'],
    [{ type: ['string', 'null'] }, '7', '"7"'],
    [{ type: 'object' }, '{"b": [1]}', '{"b":[1]}'],
    [{ type: 'array' }, '[1, "2"]', '[1,"2"]'],
    [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, '7', '7'],
    [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, '7.5', '"7.5"'],
    [{ oneOf: [{ type: 'boolean' }, { type: 'null' }] }, 'null', 'null'],
    [{ anyOf: [{ type: 'string' }, {}] }, '7', '7'],
    [{ allOf: [{ title: 'A' }, { type: 'string' }] }, '7', '"7"'],
    [{ enum: ['1', '2'] }, '1', '"1"'],
    [{ enum: [1, 'a'] }, '1', '1'],
    [{ const: '1' }, '1', '"1"'],
    [{ $ref: '#/$defs/S' }, '1', '"1"'],
    [{ $ref: '#/$defs/a~1b' }, '1', '"1"'],
    [{ $ref: '#/$defs/loop' }, '1', '"1"'],
    [{ $ref: '#/$defs/none' }, '1', '1'],
    [{ $ref: 'https://example.org/schema' }, '1', '1'],
    [{ type: 'str' }, '1', '1'],
    [{}, '1', '1'],
    [true, 'True', '"True"'],
  ])('reads %j as %j', (schema, value, read) => {
    const $defs = {
      S: { type: 'string' },
      'a/b': { type: 'string' },
      loop: { anyOf: [{ $ref: '#/$defs/loop' }, { type: 'string' }] },
    }
    expect(typed(schema, value, { $defs })).toBe(`f({"a":${read}})`)
  })

  test.each([
    [{ type: 'integer' }, '4.5', '✗ "a" is not of type integer @39'],
    [{ type: 'integer' }, 'four', '✗ "a" is not of type integer: "f" where a JSON value is expected @39'],
    [{ type: ['boolean', 'null'] }, '"true"', '✗ "a" is not of type boolean or null @39'],
    [{ type: 'object' }, '[1]', '✗ "a" is not of type object @39'],
    [{ type: 'array' }, '[1', '✗ "a" is not of type array: the text ends where "," or "]" is expected @41'],
    [
      { type: 'number' },
      '1e999',
      '✗ "a" is not of type number: a number is larger than any that can be represented @39',
    ],
    [{ type: 'number' }, '1 2', '✗ "a" is not of type number: unexpected text after the JSON value @41'],
  ])('reports a mismatch: %j, %j', (schema, value, line) => {
    expect(typed(schema, value)).toBe(line)
  })

  test('uses additionalProperties for unnamed arguments', () => {
    expect(drawn(call('f', parameter('z', '1')), tool({}, { additionalProperties: { type: 'string' } }))).toEqual([
      'f({"z":"1"})',
    ])
    expect(drawn(call('f', parameter('z', '1')), tool({}, { additionalProperties: false }))).toEqual(['f({"z":1})'])
    expect(drawn(call('f', parameter('constructor', '1')), tool({}))).toEqual(['f({"constructor":1})'])
  })

  test('decodes JSON without a schema', () => {
    expect(drawn(call('other', parameter('a', '42'), parameter('b', 'NaN'), parameter('c', '"x"')), tool({}))).toEqual([
      'other({"a":42,"b":"NaN","c":"x"})',
    ])
  })
})

describe('seed_oss parser', () => {
  const call = (value: string) =>
    `<seed:tool_call>\n<function=f>\n<parameter=a>${value}</parameter>\n</function>\n</seed:tool_call>`
  const read = (text: string, type?: string) =>
    describeCalls(parseText(seedOss, text, type ? [{ name: 'f', inputSchema: { properties: { a: { type } } } }] : []))

  test.each([
    ['1', undefined, '1'],
    ['True', 'boolean', 'true'],
    ["['a', None]", 'array', '["a",null]'],
    ["{'k': True}", 'object', '{"k":true}'],
    ['[1]', 'array', '[1]'],
    ['</seed:tool_call>', 'string', '"</seed:tool_call>"'],
  ])('reads the calls of qwen_xml between its own tokens, and Python: %s as %s', (written, type, json) => {
    expect(read(`<seed:think>${call('0')}</seed:think>${call(written)}`, type)).toEqual([`f({"a":${json}})`])
  })

  test('reports a malformed call with the reason and reads the next one', () => {
    const good = call('1')
    const lines = (body: string) => read(`<seed:tool_call>${body}${good}`, 'integer')
    expect(lines('<function=f>').at(-1)).toBe('f({"a":1})')
    expect(lines("<function=f><parameter=a>['x']</parameter></function></seed:tool_call>")[0]).toMatch(
      /^✗ "a" is not of type integer/,
    )
    expect(lines('<function=f><parameter=a>1</parameter></function>')[0]).toMatch(
      /where <\/seed:tool_call> is expected/,
    )
  })
})

describe('frogboss parser', () => {
  const tools = [{ name: 'f', inputSchema: { properties: { a: { type: 'array' }, b: { type: 'string' } } } }]
  const read = (text: string) => describeCalls(parseText(frogboss, text, tools))

  test('reads functions without tags around them: Python values by their type, and texts with their line breaks', () => {
    const call = "<function=f>\n  <parameter=a>['x', None]</parameter>\n  <parameter=b>\ny\n</parameter>\n</function>"
    expect(read(`So.\n${call}\n<function=f>\n</function>`)).toEqual(['f({"a":["x",null],"b":"\\ny\\n"})', 'f({})'])
  })

  test.each(['tool_call', 'seed:tool_call', 'zyphra_tool_call'])('leaves calls in <%s> to their own format', (tag) => {
    expect(read(`<${tag}>\n<function=f>\n</function>\n</${tag}>`)).toEqual([])
  })

  test('reports a function that is not closed, and reads the next one', () => {
    expect(read('<function=f>\n  <parameter=b>1</parameter>\n<function=f></function>')).toEqual([
      expect.stringMatching(/<parameter= or <\/function> is expected/),
      'f({})',
    ])
  })
})

test.each([
  ['mimo', mimo, 'tool_call'],
  ['seed_oss', seedOss, 'seed:tool_call'],
] as const)('%s parser keeps the line breaks at the ends of a text, which its template writes', (_, parser, tag) => {
  const text = `<${tag}>\n<function=f>\n<parameter=a>\nx\n</parameter>\n</function>\n</${tag}>`
  expect(describeCalls(parseText(parser, text))).toEqual(['f({"a":"\\nx\\n"})'])
})
