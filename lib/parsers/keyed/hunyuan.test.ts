import { describe, expect, test } from 'vitest'
import { textWithoutCalls } from '../reading/rest.ts'
import { describeCalls, parseText } from '../test-draw.ts'
import { hunyuan } from './hunyuan.ts'

const tag = (name: string) => `<${name}:opensource>`
const preview = (text: string) => text.replaceAll(':opensource', '')
const pair = (key: string, value: string) =>
  `${tag('arg_key')}${key}${tag('/arg_key')}\n${tag('arg_value')}${value}${tag('/arg_value')}\n`
const call = (name: string, ...pairs: readonly string[]) =>
  `${tag('tool_call')}${name}${tag('tool_sep')}\n${pairs.join('')}${tag('/tool_call')}\n`
const section = (...calls: readonly string[]) => `${tag('tool_calls')}\n${calls.join('')}${tag('/tool_calls')}`
const drawn = (text: string) => describeCalls(parseText(hunyuan, text)).map((line) => line.replace(/ @\d+$/, ''))

describe('hunyuan parser with a well-formed call', () => {
  test('reads several in a section, which may stay unclosed', () => {
    const text = `So.${section(call('f', pair('a', '1'), pair('b', ' x\n')), call('g'))}`
    expect(drawn(text)).toEqual(['f({"a":1,"b":" x\\n"})', 'g({})'])
    expect(textWithoutCalls(text, parseText(hunyuan, text), [], hunyuan).trim()).toBe('So.')
    expect(drawn(text.slice(0, -tag('/tool_calls').length))).toEqual(drawn(text))
  })

  test('allows a missing separator after the name', () => {
    expect(drawn(section(call('f', pair('a', '1')).replace(`${tag('tool_sep')}\n`, '')))).toEqual(['f({"a":1})'])
  })

  test('reads tags without suffix, as the preview tokenizer has them', () => {
    const text = section(call('f', pair('a', '<think>')), call('g', pair('b', tag('/tool_calls'))))
    expect(drawn(preview(text))).toEqual(drawn(text).map(preview))
    expect(textWithoutCalls(preview(`So.${text}`), parseText(hunyuan, preview(`So.${text}`)), [], hunyuan).trim()).toBe(
      'So.',
    )
    // All tags are spelled like the first.
    expect(drawn(section(preview(call('f')), call('g')))).toEqual(['g({})'])
  })

  test('ignores calls in a think block', () => {
    expect(drawn(`${tag('think')}${section(call('f'))}${tag('/think')}${section(call('g'))}`)).toEqual(['g({})'])
  })
})

describe('hunyuan parser with a malformed call', () => {
  test.each([
    [call(''), '✗ the call has no name'],
    [call('f', pair('a', '1'), pair('a', '2')), '✗ "a" is given twice'],
    [call('f', pair('a', '1').replace(tag('/arg_value'), '')), '✗ the value of "a" is not closed'],
    [call('f', 'x'), '✗ "x" where <arg_key:opensource> or </tool_call:opensource> is expected'],
    [
      call('f').replace(tag('/tool_call'), ''),
      '✗ "<" where <arg_key:opensource> or </tool_call:opensource> is expected',
    ],
  ])('reports the reason for %s', (body, why) => {
    expect(drawn(section(body))).toEqual([why])
    expect(drawn(section(body, call('g'))).at(-1)).toBe('g({})')
  })

  test('requires a section', () => {
    expect(drawn(call('f'))).toEqual(['✗ the call is in no section: <tool_calls:opensource> is missing'])
  })
})
