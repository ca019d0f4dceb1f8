import { describe, expect, test } from 'vitest'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { deepseekV4, deepseekV32, deepseekV41, gigachat35 } from './deepseek-v32.ts'

const BEGIN = '<｜DSML｜function_calls>'
const END = '</｜DSML｜function_calls>'
const CLOSE = '</｜DSML｜invoke>'
const call = (name: string, body: string) => `<｜DSML｜invoke name="${name}">${body}${CLOSE}`
const value = (name: string, text: string, isText = true) =>
  `<｜DSML｜parameter name="${name}" string="${isText}">${text}</｜DSML｜parameter>`
const drawn = (text: string) => describeCalls(parseText(deepseekV32, text)).map((line) => line.replace(/ @\d+$/, ''))

test('deepseek_v4 and deepseek_v32 parsers read the same calls, each only in the block of its own version', () => {
  const f = call('f', value('a', '1', false))
  const ofV32 = BEGIN + f + END
  const ofV4 = `<｜DSML｜tool_calls>${f}</｜DSML｜tool_calls>`
  const readsBy = (text: string) =>
    [deepseekV32, deepseekV4].map((parser) => describeCalls(parseText(parser, text)).join())
  const none = expect.stringMatching(/^✗ the call is in no section/)
  expect(readsBy(ofV32)).toEqual(['f({"a":1})', none])
  expect(readsBy(ofV4)).toEqual([none, 'f({"a":1})'])
  expect(readsBy(f)).toEqual(['f({"a":1})', 'f({"a":1})'])
  expect(textWithoutCalls(`So ${ofV4}`, parseText(deepseekV4, ofV4), [], deepseekV4)).not.toContain('tool_calls')
})

describe('deepseek_v32 parser with a well-formed call', () => {
  test('returns its name, arguments and positions, with texts unchanged and other values as JSON', () => {
    const body = `\n${value('a', ' x\n')}\n${value('b', ' 1.0 ', false)}\n${value('c', '42')}\n`
    const text = `So.\n\n${BEGIN}\n${call('add', body)}\n${call('f', '')}\n${END} done`
    const calls = parseText(deepseekV32, text)
    expect(calls).toMatchObject([
      { name: 'add', input: { a: ' x\n', b: 1, c: '42' } },
      { name: 'f', input: {} },
    ])
    expect(calls[0] && textInRange(text, calls[0].text)).toBe(call('add', body))
    expect(
      calls[0]?.kind === 'parsed' &&
        calls[0].arguments.map(({ key, text: at }) => [key, at].map((range) => textInRange(text, range))),
    ).toEqual([
      ['a', ' x\n'],
      ['b', ' 1.0 '],
      ['c', '42'],
    ])
    expect(textWithoutCalls(text, calls, [], deepseekV32)).toBe('So.\n\n\n\n\n done')
  })

  test('allows arguments as one object, or none in a tag that closes itself', () => {
    expect(drawn(BEGIN + call(' f ', '\n{"a": "</｜DSML｜invoke>"}\n') + END)).toEqual(['f({"a":"</｜DSML｜invoke>"})'])
    expect(drawn(`${BEGIN}<｜DSML｜invoke name="f"/><｜DSML｜invoke name="g" />${END}`)).toEqual(['f({})', 'g({})'])
  })

  test('returns the positions and the raw text of both', () => {
    const text = `${BEGIN}${call('f', ' {"a": 1.0} ')}<｜DSML｜invoke name="g" />${END}`
    const read = parseText(deepseekV32, text).map((one) => ({
      written: textInRange(text, one.text),
      raw: one.raw,
      ...(one.kind === 'parsed' && {
        name: textInRange(text, one.nameText),
        values: one.arguments.map(({ name, key, text: at }) => [name, textInRange(text, key), textInRange(text, at)]),
      }),
    }))
    expect(read).toEqual([
      { written: call('f', ' {"a": 1.0} '), raw: ' name="f"> {"a": 1.0} ', name: 'f', values: [['a', '"a"', '1.0']] },
      { written: '<｜DSML｜invoke name="g" />', raw: ' name="g" />', name: 'g', values: [] },
    ])
  })

  test('allows the closing tag in a text, and ignores calls in a think block', () => {
    expect(drawn(call('f', value('a', CLOSE)))).toEqual([`f({"a":"${CLOSE}"})`])
    expect(drawn(`<think>${BEGIN}${call('f', '')}${END}</think>${call('g', '')}`)).toEqual(['g({})'])
  })

  test('allows calls without a block unless there is one', () => {
    expect(drawn(call('f', '') + call('g', ''))).toEqual(['f({})', 'g({})'])
    const outside = `✗ the call is in no section: ${BEGIN} is missing`
    expect(drawn(call('f', '') + BEGIN + call('g', '') + END)).toEqual([outside, 'g({})'])
    expect(drawn(BEGIN + call('f', ''))).toEqual([`✗ the section is not closed: no ${END} follows`])
  })
})

describe('deepseek_v32 parser with a malformed call', () => {
  const TAG = '<｜DSML｜parameter'
  test.each([
    ['<｜DSML｜invoke>{}', '<｜DSML｜invoke is not followed by name="…">', undefined],
    ['<｜DSML｜invoke name=" ">', 'the call has no name', undefined],
    ['<｜DSML｜invoke name="f">text', `"t" where ${TAG} or ${CLOSE} is expected`, 'f'],
    ['<｜DSML｜invoke name="f">', `the text ends where ${TAG} or ${CLOSE} is expected`, 'f'],
    [
      `<｜DSML｜invoke name="f">${value('a', 'x y', false)}`,
      '"a" is neither a text nor JSON: "x" where a JSON value is expected',
      'f',
    ],
    [`<｜DSML｜invoke name="f">${TAG} name="a">x`, `${TAG} is not followed by name="…" string="true|false">`, 'f'],
    [`<｜DSML｜invoke name="f">${TAG} name="a" string="true">x`, 'the value of "a" is not closed', 'f'],
    [
      `<｜DSML｜invoke name="f">${TAG} name="a" string="true">x${value('b', 'y')}`,
      'the value of "a" is not closed',
      'f',
    ],
    ['<｜DSML｜invoke name="f">{"a": 1', 'the text ends where "," or "}" is expected', 'f'],
    ['<｜DSML｜invoke name="f">{"a": 1} x', `unexpected text between the JSON and ${CLOSE}`, 'f'],
  ])('reports the reason and position for %s', (text, why, name) => {
    const calls = parseText(deepseekV32, text + CLOSE + call('g', ''))
    if (text.endsWith('name="f">')) expect(describeCalls(calls)).toEqual(['f({})', 'g({})'])
    else {
      expect(calls[0]).toMatchObject({ kind: 'malformed', why })
      expect(calls[0]?.name).toBe(name)
      expect(describeCalls(calls.slice(1))).toEqual(['g({})'])
    }
    expect(parseText(deepseekV32, text)).toMatchObject([{ kind: 'malformed' }])
  })
})

test('deepseek_v41 and gigachat35 parsers read the same calls in their own tags, and no others', () => {
  const v4 = `<｜DSML｜tool_calls>\n${call('f', value('a', '1', false))}\n</｜DSML｜tool_calls>`
  const v41 = v4.replaceAll('｜DSML｜', '｜DSML｜ ').replaceAll('tool_calls>', 'calls>')
  const giga = `So.${v4.replaceAll('DSML', 'GCML')}<|message_sep|>\n\n</s>`
  for (const [parser, own] of [
    [deepseekV41, v41],
    [gigachat35, giga],
  ] as const) {
    const read = [v4, v41, giga].filter((text) => parseText(parser, text).length > 0)
    expect(read).toEqual([own])
    expect(describeCalls(parseText(parser, own))).toEqual(['f({"a":1})'])
  }
  expect(textWithoutCalls(giga, parseText(gigachat35, giga), [], gigachat35)).toBe('So.\n\n\n\n')
})
