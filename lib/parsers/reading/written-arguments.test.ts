import { describe, expect, test } from 'vitest'
import { hermes } from '../json/hermes.ts'
import { parserNamed } from '../registry.ts'
import { parseText } from '../test-draw.ts'
import { argumentsSource, compactArguments } from './written-arguments.ts'

const tools = [{ name: 'f', inputSchema: { type: 'object', properties: { code: { type: 'string' } } } }]

/** Returns the arguments of the only call of a text, as they were written and without spaces. */
function written(text: string, parser = hermes): readonly string[] {
  const [call] = parseText(parser, text, tools)
  if (call?.kind !== 'parsed') throw new Error('the text has no call')
  return [argumentsSource(call, text), compactArguments(call, text)]
}

describe('Written arguments', () => {
  test('keep numbers, and only the compact ones lose their spaces', () => {
    expect(written('<tool_call>{"name": "f", "arguments": {"a": 1.0, "b": "é \\u00e9"}}</tool_call>')).toEqual([
      '{"a": 1.0, "b": "é \\u00e9"}',
      '{"a":1.0,"b":"é é"}',
    ])
  })

  test('are those of the member that the parser reads', () => {
    const two = '<tool_call>{"name": "f", "parameters": {"a": 1.0}, "arguments": {}}</tool_call>'
    expect(written(two)).toEqual(['{"a": 1.0}', '{"a":1.0}'])
    const named = parserNamed('functionary_v31')
    expect(written('<function=f>{"arguments": {"a": 1.0}}</function>', named)[1]).toBe('{"arguments":{"a":1.0}}')
  })

  test('have a number as text if the schema says so', () => {
    const text = '<tool_call>\n<function=f>\n<parameter=code>\n 12 \n</parameter>\n</function>\n</tool_call>'
    expect(written(text, parserNamed('qwen_xml'))).toEqual(['{"code": " 12 "}', '{"code":" 12 "}'])
  })

  test.each([
    ['pythonic', "[f(a=[1.0, True], b={'k': 12345678901234567890}, c='1.0')]", '{"k":12345678901234567890}'],
    [
      'gemma4',
      '<|tool_call>call:f{a:[1.0,true],b:{k:12345678901234567890},c:<|"|>1.0<|"|>}<tool_call|>',
      '{"k":12345678901234567890}',
    ],
  ])('of %s keep the digits of numbers inside of values in its notation', (name, text, inner) => {
    expect(written(text, parserNamed(name))[1]).toBe(`{"a":[1.0,true],"b":${inner},"c":"1.0"}`)
  })

  test('that are not JSON are the JSON of each written value', () => {
    const text = 'f(x=1.0, y=Oslo)'
    const call = {
      kind: 'parsed' as const,
      id: 'c',
      name: 'f',
      raw: text,
      input: { x: 1, y: 'Oslo' },
      arguments: [
        { name: 'x', text: { start: 4, end: 7 } },
        { name: 'y', text: { start: 11, end: 15 } },
      ],
    } as unknown as Parameters<typeof argumentsSource>[0]
    expect(argumentsSource(call, text)).toBe('{"x": 1.0, "y": "Oslo"}')
    expect(argumentsSource({ ...call, arguments: [] }, text)).toBe('{"x":1,"y":"Oslo"}')
  })
})
