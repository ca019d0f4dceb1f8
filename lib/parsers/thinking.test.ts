import { expect, test } from 'vitest'
import { hermes } from './hermes.ts'
import { DEFAULT_PARSER, parserNamed, parserNames } from './registry.ts'
import { type ThinkDelimiter, thinkBlocks } from './thinking.ts'

const delimiters = (text: string): ThinkDelimiter[] =>
  Array.from(text.matchAll(/<\/?think>/g), ({ 0: found, index }) => ({
    kind: found === '<think>' ? 'open' : 'close',
    start: index,
    end: index + found.length,
  }))

/** Think blocks in braces; one that did not close ends with !. */
const draw = (text: string, opened = false) => {
  let drawn = ''
  let at = 0
  for (const { start, end, closed } of thinkBlocks(text, delimiters(text), opened, hermes.delimiters)) {
    drawn += `${text.slice(at, start)}{${text.slice(start, end)}${closed ? '' : '!'}}`
    at = end
  }
  return drawn + text.slice(at)
}

test.each([
  ['a <think>b</think> c', 'a {<think>b</think>} c'],
  ['<think>a<think>b</think>c', '{<think>a<think>b</think>}c'],
  ['a</think>b', 'a</think>b'],
  ['<think>a', '{<think>a!}'],
  ['<think>a</think><think>b</think>', '{<think>a</think>}{<think>b</think>}'],
  ['<tool_call>"<think>"</tool_call><think>b</think>', '<tool_call>"<think>"</tool_call>{<think>b</think>}'],
  ['<tool_call>x</tool_call><think>b</think>', '<tool_call>x</tool_call>{<think>b</think>}'],
  ['<tool_call>"<think>x</think>"</tool_call>', '<tool_call>"<think>x</think>"</tool_call>'],
  ['<tool_call>x<think>b</think>', '<tool_call>x{<think>b</think>}'],
])('%s', (text, drawn) => {
  expect(draw(text)).toBe(drawn)
})

test('a block may have been opened before the text', () => {
  expect(draw('a</think>b', true)).toBe('{a</think>}b')
  expect(draw('a', true)).toBe('{a!}')
})

test('many blocks after a call that never closes take no longer than many blocks', () => {
  const text = '<tool_call><think></think>'.repeat(40_000)
  expect(thinkBlocks(text, delimiters(text), false, hermes.delimiters)).toHaveLength(40_000)
})

test('parsers are found by name', () => {
  expect(parserNames.map(parserNamed)).toEqual([hermes])
  expect([parserNamed(DEFAULT_PARSER), parserNamed('nope'), parserNamed('constructor')]).toEqual([
    hermes,
    undefined,
    undefined,
  ])
})
