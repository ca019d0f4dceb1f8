import { describe, expect, test } from 'vitest'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { deepseekV3, deepseekV31 } from './deepseek.ts'

const BEGIN = '<｜tool▁calls▁begin｜>'
const END = '<｜tool▁calls▁end｜>'
const OPEN = '<｜tool▁call▁begin｜>'
const CLOSE = '<｜tool▁call▁end｜>'
const SEP = '<｜tool▁sep｜>'
const v3 = (name: string, json: string) => `${OPEN}function${SEP}${name}\n\`\`\`json\n${json}\n\`\`\`${CLOSE}`
const v31 = (name: string, json: string) => `${OPEN}${name}${SEP}${json}${CLOSE}`

describe.each([
  ['deepseek_v3', deepseekV3, v3],
  ['deepseek_v31', deepseekV31, v31],
])('%s parser', (_, parser, call) => {
  /** Omits positions, which the delimiters make long. */
  const drawn = (text: string) => describeCalls(parseText(parser, text)).map((line) => line.replace(/ @\d+$/, ''))

  test('parses a call with its name, arguments and positions', () => {
    const text = `So. ${BEGIN}${call('add', '{"a": 1.0, "b": "é"}')}\n${call('f', '{}')}${END} done`
    const calls = parseText(parser, text)
    expect(calls).toMatchObject([
      { kind: 'parsed', name: 'add', input: { a: 1, b: 'é' } },
      { name: 'f', input: {} },
    ])
    expect(calls[0] && textInRange(text, calls[0].text)).toBe(call('add', '{"a": 1.0, "b": "é"}'))
    expect(calls[0]?.kind === 'parsed' && textInRange(text, calls[0].nameText)).toBe('add')
    expect(textWithoutCalls(text, calls, [], parser)).toBe('So. \n done')
  })

  test('allows the tags in a text, and ignores calls in a think block', () => {
    const json = JSON.stringify({ a: `${CLOSE}${OPEN}${END}\`\`\`` })
    expect(drawn(BEGIN + call('f', json) + END)).toEqual([`f(${json})`])
    expect(drawn(`<think>${BEGIN}${call('f', '{}')}</think>${BEGIN}${call('g', '{}')}${END}`)).toEqual(['g({})'])
  })

  test('needs an open section that may stay unclosed, and no section in a text of V3 without any', () => {
    expect(drawn(BEGIN + call('f', '{}'))).toEqual(['f({})'])
    expect(drawn(BEGIN + call('f', '{}') + BEGIN + call('g', '{}'))).toEqual(['f({})', 'g({})'])
    const why = `✗ the call is in no section: ${BEGIN} is missing`
    expect(drawn(`${call('f', '{}')}${END}`)).toEqual(parser === deepseekV3 ? ['f({})'] : [why])
    expect(drawn(BEGIN + END + call('f', '{}') + call('g', '{'))).toEqual([
      why,
      expect.stringMatching(/^✗ .* is expected$/),
    ])
  })

  test.each([
    ['', 'what follows the name is empty'],
    ['[1]', 'what follows the name is not a JSON object: it starts with "["'],
    ['{"a": "x', expect.stringMatching(/string/)],
    ['{} {}', expect.stringMatching(/^unexpected text between the JSON and /)],
  ])('reports arguments %s as malformed and keeps the next call', (json, why) => {
    const [first, ...others] = parseText(parser, BEGIN + call('f', json) + call('g', '{}') + END)
    if (json !== '' || parser === deepseekV31) expect(first).toMatchObject({ kind: 'malformed', name: 'f', why })
    else expect(first).toMatchObject({ kind: 'malformed', name: 'f' })
    expect(describeCalls(others)).toEqual(['g({})'])
  })

  test('ends an unclosed call with its section', () => {
    const text = `${BEGIN}${call('f', '{}').slice(0, -CLOSE.length)}${END} and on`
    const [found] = parseText(parser, text)
    expect(found).toMatchObject({ kind: 'malformed', why: expect.stringMatching(/^the call is not closed/) })
    expect(found && text.slice(found.text.end)).toBe(`${END} and on`)
  })
})

test.each([
  [v3('f', '{}').replace('```json', '```'), 'the name is not followed by a line ```json', 'f'],
  [v3('f g', '{}'), 'the name is not followed by a line ```json', 'f'],
  [v3('', '{}'), 'the call has no name', undefined],
  [v3('f', '{}').replace('\n```<', '```<'), 'there is no line break before ```', 'f'],
  [v3('f', '{}').replace(SEP, ''), `"<" where ${SEP} is expected`, undefined],
  [`${OPEN}function`, `the text ends where ${SEP} is expected`, undefined],
])('deepseek_v3 parser refuses %s', (text, why, name) => {
  const [call] = parseText(deepseekV3, BEGIN + text)
  expect(call).toMatchObject({ kind: 'malformed', why })
  expect(call?.name).toBe(name)
})

test.each([
  [v31('', '{}'), 'the call has no name', undefined],
  [v31('f g', '{}'), `"g" where ${SEP} is expected`, 'f'],
  [`${OPEN}f`, `the text ends where ${SEP} is expected`, 'f'],
])('deepseek_v31 parser refuses %s', (text, why, name) => {
  const [call] = parseText(deepseekV31, BEGIN + text)
  expect(call).toMatchObject({ kind: 'malformed', why })
  expect(call?.name).toBe(name)
})
