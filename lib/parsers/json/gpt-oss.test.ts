import { describe, expect, test } from 'vitest'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText, textInRange } from '../test-draw.ts'
import { thinkBlocks, thinkDelimitersIn, thoughtIn } from '../thinking.ts'
import { gptOss } from './gpt-oss.ts'

const thinksIn = (text: string) => thinkBlocks(text, thinkDelimitersIn(text), false, gptOss.delimiters)
const drawn = (text: string) => describeCalls(parseText(gptOss, text)).map((line) => line.replace(/ @\d+$/, ''))
const rest = (text: string) => textWithoutCalls(text, parseText(gptOss, text), thinksIn(text), gptOss)
const START = '<|start|>assistant'
const call = (name: string, json: string) =>
  `${START}<|channel|>commentary to=functions.${name} <|constrain|>json<|message|>${json}<|call|>`

describe('gpt_oss parser with a reply in messages', () => {
  test('returns thinking, text and calls with their positions', () => {
    const analysis = '<|channel|>analysis<|message|>Add them.<|end|>'
    const text = `${analysis}${START}<|channel|>commentary<|message|>I add.<|end|>${call('add', ' {"a": 1.0} ')}`
    const calls = parseText(gptOss, text)
    expect(calls).toMatchObject([{ kind: 'parsed', name: 'add', input: { a: 1 } }])
    expect(calls[0] && textInRange(text, calls[0].text)).toBe(call('add', ' {"a": 1.0} '))
    expect(calls[0]?.kind === 'parsed' && textInRange(text, calls[0].nameText)).toBe('add')
    expect(thinksIn(text).map((block) => textInRange(text, block))).toEqual([analysis])
    expect(thoughtIn(analysis)).toBe('Add them.')
    expect(rest(text)).toBe(`${analysis}I add.`)
    expect(rest(`${analysis}${START}<|channel|>final<|message|>Hi.<|return|>`)).toBe(`${analysis}Hi.`)
    expect(rest('No message at all.')).toBe('No message at all.')
  })

  test.each([
    ['<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>', 'f({})'],
    [' to=functions.f<|channel|>commentary json<|message|>{}<|call|>', 'f({})'],
    [`${START} to=functions.f<|channel|>commentary json<|message|>{"a": 1}<|call|>`, 'f({"a":1})'],
    [`${START}<|channel|>commentary to=functions.a.b-c<|message|>{}<|call|>`, 'a.b-c({})'],
    [`${START}<|channel|>commentary to=browser.open <|constrain|>json<|message|>{}<|call|>`, 'browser.open({})'],
    [`${START}<|channel|>analysis to=functions.f <|constrain|>json<|message|>{}<|call|>`, 'f({})'],
    [`${START} to=functions.f<|channel|>analysis code<|message|>{"a": 1}<|call|>`, 'f({"a":1})'],
    [' to=functions.f<|channel|>analysis<|message|>{"a": 1}<|call|>', 'f({"a":1})'],
    [call('f', ''), 'f({})'],
    [call('f', '{"a": "<|call|><|start|>"}'), 'f({"a":"<|call|><|start|>"})'],
  ])('reads %s', (text, expected) => {
    expect(drawn(text)).toEqual([expected])
    expect(rest(text)).toBe('')
  })

  test('ignores calls in thinking and tool messages, and leaves unclosed thinking open', () => {
    const thought = `<|channel|>analysis<|message|>I could write ${call('f', '{}')}`
    expect(drawn(`<|channel|>analysis<|message|>x<|end|>${call('f', '{}')}`)).toEqual(['f({})'])
    expect(thinksIn(thought)[0]).toMatchObject({ closed: true })
    expect(thinksIn('<|channel|>analysis<|message|>Hm')).toMatchObject([{ closed: false }])
    expect(drawn('<|start|>functions.f to=assistant<|channel|>commentary<|message|>{}<|end|>')).toEqual([])
    expect(drawn(`${START}<|channel|>final<|message|>to=functions.f<|message|>{}<|call|>`)).toEqual([])
  })
})

describe('gpt_oss parser reports the reason and position of a malformed call with', () => {
  test.each([
    [call('f', '[1]'), 'the message is not a JSON object: it starts with "["', 'f'],
    [call('f', '{"a": 1'), 'the text ends where "," or "}" is expected', 'f'],
    [call('f', '{}').replace('<|call|>', '<|end|>'), 'the call is not closed: no <|call|> follows', 'f'],
    [call('f', '{}').replace('<|call|>', ''), 'the call is not closed: no <|call|> follows', 'f'],
    [call('', '{}'), 'the recipient names no tool', undefined],
    [
      `${START}<|channel|>commentary to=python code<|message|>print(1)<|call|>`,
      'the message is not a JSON object: it starts with "p"',
      'python',
    ],
  ])('%s', (text, why, name) => {
    const calls = parseText(gptOss, `${text}${call('g', '{}')}`)
    expect(calls[0]).toMatchObject({ kind: 'malformed', why })
    expect(calls[0]?.name).toBe(name)
    expect(describeCalls(calls.slice(1))).toEqual(['g({})'])
  })
})
