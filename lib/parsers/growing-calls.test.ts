import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { runs } from '#testing/property-runs.ts'
import { growingCalls, mayBeMarkup } from './growing-calls.ts'
import { hermes } from './json/hermes.ts'
import { mistral } from './json/mistral.ts'
import { longcat } from './keyed/longcat.ts'
import { compactArguments } from './reading/written-arguments.ts'
import { parserNamed, parsers } from './registry.ts'
import { muse } from './tags/muse.ts'
import { qwenXml } from './tags/qwen-xml.ts'
import { AT_THE_END, CALLS, TWO_CALLS } from './test-calls.ts'
import { parseText } from './test-draw.ts'

const tools: readonly ToolSpec[] = [
  { name: 'add', inputSchema: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'string' } } } },
]

const growing = (parser: (typeof parsers)[number], text: string, start = 0) =>
  growingCalls(parser, { text, start, shielded: [], tools })

describe('The growing calls of a reply', () => {
  test.each(parsers)('of $name are beginnings of those that the parser reads at the end', (parser) => {
    const [open, whole, between, , close] = TWO_CALLS[parser.name] ?? expect.fail('no calls')
    const text = `${open}${whole}${between}${whole}${close}`
    const calls = parseText(parser, text, tools).map((call) =>
      call.kind === 'parsed' ? [call.name, compactArguments(call, text)] : expect.fail(call.why),
    )
    expect(calls).toHaveLength(2)
    let most = 0
    for (let end = 0; end <= text.length; end++) {
      const found = growing(parser, text.slice(0, end))
      for (const [index, call] of found.entries()) {
        const [name, input = ''] = calls[index] ?? expect.fail('too many calls')
        expect(call.name).toBe(name)
        if (call.hasEnded) expect(call.arguments).toBe(input)
        else expect(input.startsWith(call.arguments)).toBe(true)
      }
      most = Math.max(most, found.length)
    }
    expect(most).toBe(AT_THE_END.includes(parser.name) ? 0 : 2)
  })

  test.each(parsers)('of $name are beginnings of the call that it reads at the end, for any argument', (parser) => {
    const write = CALLS[parser.name] ?? expect.fail('no call')
    const value = fc
      .tuple(fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' }), fc.constantFrom(0, 1))
      .map(([argument, indent]) => JSON.stringify(argument, null, indent))
    // JavaScript would list numbers first.
    const names = fc.shuffledSubarray(['b', '1', '0', 'é'])
    const object = fc
      .tuple(names, value)
      .map(([all, json]) => `{${all.map((name) => `${JSON.stringify(name)}: ${json}`).join(', ')}}`)
    fc.assert(
      fc.property(fc.oneof(value, object), (json) => {
        const text = write(json)
        const [call] = parseText(parser, text, tools)
        fc.pre(call?.kind === 'parsed')
        const whole = compactArguments(call, text)
        for (let end = 0; end <= text.length; end++)
          for (const { arguments: begun } of growing(parser, text.slice(0, end)))
            expect(whole.slice(0, begun.length)).toBe(begun)
      }),
      { numRuns: runs(20) },
    )
  })

  test('of Muse Glimmer have the name of the tool, also if the model doubles it', () => {
    const text = (CALLS.muse?.('7') ?? expect.fail('no call')).replace('name="f"', 'name="add.add"')
    expect(growing(muse, text.slice(0, text.indexOf('7')))).toEqual([{ name: 'add', arguments: '{', hasEnded: false }])
    expect(growing(muse, text)).toEqual([{ name: 'add', arguments: '{"a":7}', hasEnded: true }])
  })

  test('of LongCat grow by argument if their values are between tags', () => {
    const text =
      '<longcat_tool_call>add\n<longcat_arg_key>a</longcat_arg_key>\n<longcat_arg_value>7</longcat_arg_value>\n</longcat_tool_call>'
    const upTo = (end: string) => growing(longcat, text.slice(0, text.indexOf(end)))
    expect(upTo('7')).toEqual([{ name: 'add', arguments: '{', hasEnded: false }])
    expect(upTo('</longcat_tool_call>')).toEqual([{ name: 'add', arguments: '{"a":7', hasEnded: false }])
    expect(growing(longcat, text)).toEqual([{ name: 'add', arguments: '{"a":7}', hasEnded: true }])
  })

  test('begin where the first call does, and end before what is no call', () => {
    const call = (name: string) => `<tool_call>{"name": ${name}, "arguments": {"a": 1}}</tool_call>`
    const text = `so ${call('"add"')}\n${call('"s\\u00fcm"')} and ${call('"add"')}`
    expect(growing(hermes, text)).toEqual([])
    expect(growing(hermes, text, 3).map(({ name }) => name)).toEqual(['add', 'süm'])
    expect(
      growing(mistral, '[TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {'),
    ).toEqual([
      { name: 'f', arguments: '{"a":1}', hasEnded: true },
      { name: 'g', arguments: '{', hasEnded: false },
    ])
  })

  test('do not end with empty arguments, because another member may have them', () => {
    const call = '<tool_call>{"name": "add", "parameters": {}'
    expect(growing(hermes, `${call}, "arguments": {"a": 1}}`)).toEqual([
      { name: 'add', arguments: '{', hasEnded: false },
    ])
    expect(growing(hermes, `${call}}</tool_call>`)).toEqual([{ name: 'add', arguments: '{}', hasEnded: true }])
  })

  test('between tags stop at an argument that cannot be read', () => {
    const begin = '<tool_call>\n<function=add>\n'
    const argument = (name: string, value: string) => `<parameter=${name}>\n${value}\n</parameter>\n`
    expect(growing(qwenXml, begin)).toEqual([{ name: 'add', arguments: '{', hasEnded: false }])
    expect(growing(qwenXml, begin + argument('a', 'one'))).toEqual([])
    const written = '{"b":"x","1":"x"'
    expect(growing(qwenXml, begin + argument('b', 'x') + argument('1', 'x'))).toEqual([
      { name: 'add', arguments: written, hasEnded: false },
    ])
    expect(growing(qwenXml, `${begin}${argument('a', 'one')}</function>`)).toEqual([])
  })
})

test('A text may be a call without a delimiter in formats that have such calls', () => {
  const may = (name: string, text: string) => mayBeMarkup(parserNamed(name) ?? expect.fail(name), text)
  expect([may('llama3', '{"name"'), may('llama3', 'Hi {')]).toEqual([true, false])
  expect([may('functionary_v32', 'add\n{'), may('functionary_v32', 'Hi you')]).toEqual([true, false])
  expect([may('gpt-oss', 'to'), may('gpt-oss', 'to=functions.f'), may('gpt-oss', 'today')]).toEqual([true, true, false])
  expect([may('xlam', '[{'), may('xlam', 'Hi [')]).toEqual([true, false])
  expect([may('muse', 'to=user'), may('muse', 'assistant'), may('muse', 'today')]).toEqual([true, true, false])
  expect([may('hyperclovax', '/thi'), may('hyperclovax', '/tmp')]).toEqual([true, false])
  expect(may('hermes', '{"name"')).toBe(false)
})
