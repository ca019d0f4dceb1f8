import { expect, test } from 'vitest'
import { hermes } from './json/hermes.ts'
import { kimiK2 } from './json/kimi-k2.ts'
import { parserNamed } from './registry.ts'
import { CALLS } from './test-calls.ts'
import { thinkBlocks, thinkDelimitersIn, thoughtIn } from './thinking.ts'

/** Writes think blocks in braces; an unclosed one ends with !. */
const draw = (text: string, opened = false) => {
  let drawn = ''
  let at = 0
  for (const { start, end, closed } of thinkBlocks(text, thinkDelimitersIn(text), opened, hermes.delimiters)) {
    drawn += `${text.slice(at, start)}{${text.slice(start, end)}${closed ? '' : '!'}}`
    at = end
  }
  return drawn + text.slice(at)
}

const delimitersOf = (name: string) => (parserNamed(name) ?? expect.fail(name)).delimiters

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
])('thinkBlocks reads %s', (text, drawn) => {
  expect(draw(text)).toBe(drawn)
})

test('thinkBlocks accepts a block that was opened before the text', () => {
  expect(draw('a</think>b', true)).toBe('{a</think>}b')
  expect(draw('a[/THINK]b</think>', true)).toBe('{a[/THINK]}b</think>')
  expect(draw('a<|end|>b', true)).toBe('{a<|end|>b!}')
  expect(draw('a', true)).toBe('{a!}')
})

test.each([
  ['<think>a<tool_call>b</tool_call>c', '{<think>a!}<tool_call>b</tool_call>c'],
  ['<think>a<tool_call>b</think>c', '{<think>a<tool_call>b</think>}c'],
  ['<think>a</think>b<think>c<tool_call>', '{<think>a</think>}b{<think>c!}<tool_call>'],
])('thinkBlocks ends %s at a call only if nothing closes it', (text, drawn) => {
  expect(draw(text)).toBe(drawn)
})

test.each([
  ['hermes', 'kimi_k2', 'kimi_k3', 'hunyuan', 'k2_horizon', 'cohere_command4', 'deepseek_v4', 'deepseek_v41', 'gemma4'],
  ['qwen_xml', 'glm', 'mimo', 'minimax-m2', 'mistral', 'plamo3', 'seed_oss', 'tool_calls'],
])('thinkBlocks ends an unclosed block at a call, as the servers of these formats do', (...names) => {
  for (const name of names) {
    const text = `<think>so ${CALLS[name]?.('1') ?? expect.fail(name)}`
    expect(thinkBlocks(text, [{ kind: 'open', start: 0, end: 7 }], false, delimitersOf(name))).toEqual([
      { start: 0, end: 10, closed: false },
    ])
  }
})

test.each(['deepseek_v3', 'deepseek_v32', 'step3', 'minimax-m3', 'interns1', 'dots'])(
  'thinkBlocks leaves a call of %s in an unclosed block',
  (name) => {
    const text = `<think>so ${CALLS[name]?.('1') ?? expect.fail(name)}`
    expect(thinkBlocks(text, [{ kind: 'open', start: 0, end: 7 }], false, delimitersOf(name))).toEqual([
      { start: 0, end: text.length, closed: false },
    ])
  },
)

test('thinkBlocks takes linear time on many blocks after an unclosed call', () => {
  const text = '<tool_call><think></think>'.repeat(40_000)
  expect(thinkBlocks(text, thinkDelimitersIn(text), false, hermes.delimiters)).toHaveLength(40_000)
})

test('thinkDelimitersIn finds delimiters by their text', () => {
  expect(thinkDelimitersIn('a<think>b</think></thinking>')).toEqual([
    { kind: 'open', start: 1, end: 8 },
    { kind: 'close', start: 9, end: 17 },
  ])
})

test.each([
  ['a [THINK]b[/THINK] c <think>', 'a {[THINK]b[/THINK]} c <think>'],
  ['◁think▷a<think>', '{◁think▷a<think>!}'],
  ['<|START_THINKING|>b<|END_THINKING|>c', '{<|START_THINKING|>b<|END_THINKING|>}c'],
  ['<|inner_prefix|>b<|inner_suffix|>c', '{<|inner_prefix|>b<|inner_suffix|>}c'],
  ['<|inner_prefix|>b<|tools_prefix|>[]', '{<|inner_prefix|>b}<|tools_prefix|>[]'],
  ['<|channel|>analysis<|message|>a<|end|>b', '{<|channel|>analysis<|message|>a<|end|>}b'],
  ['<|channel|>analysis<|message|>a<|start|>b', '{<|channel|>analysis<|message|>a}<|start|>b'],
  ['<|channel|>analysis to=python code<|message|>a<|call|>', '<|channel|>analysis to=python code<|message|>a<|call|>'],
  ['<|channel|>final<|message|>a<|return|>', '<|channel|>final<|message|>a<|return|>'],
  ['<|channel>thought\na\n<channel|>b', '{<|channel>thought\na\n<channel|>}b'],
  ['<|channel>a<channel|>b <|channel>thought', '{<|channel>a<channel|>}b {<|channel>thought!}'],
  ['<|open|>think<|sep|>a<|close|>think<|sep|>b', '{<|open|>think<|sep|>a<|close|>think<|sep|>}b'],
  ['<seed:think>a</seed:think>b', '{<seed:think>a</seed:think>}b'],
  ['<longcat_think>a</longcat_think>b<longcat_think>', '{<longcat_think>a</longcat_think>}b{<longcat_think>!}'],
  ['<|think:start|>a<|think:end|>b', '{<|think:start|>a<|think:end|>}b'],
  ['<|thought_start|>\na\n<|thought_end|>\nb', '{<|thought_start|>\na\n<|thought_end|>}\nb'],
  ['/think\na<|im_end|>\n<|im_start|>assistant\nb', '{/think\na<|im_end|>}\n<|im_start|>assistant\nb'],
  ['<|im_start|>assistant/think\na', '{<|im_start|>assistant/think\na!}'],
  ['<|im_start|>assistant\n/think\na<|im_end|>', '<|im_start|>assistant\n/think\na<|im_end|>'],
  ['<|channel>though', '{<|channel>though!}'],
  ['<mm:think>a</mm:think>b', '{<mm:think>a</mm:think>}b'],
  ['<ifm|think_fast>a</ifm|think_fast>b<ifm|think>', '{<ifm|think_fast>a</ifm|think_fast>}b{<ifm|think>!}'],
  [
    '<|think|>a<|end|><|begin|>assistant<|content|>b<|end|>',
    '{<|think|>a<|end|>}<|begin|>assistant<|content|>b<|end|>',
  ],
  ['<think:opensource>a</think:opensource>b', '{<think:opensource>a</think:opensource>}b'],
  [' to=self<|message|>a<|eom|>b', '{ to=self<|message|>a<|eom|>}b'],
  ['b<|eot|><|start|>assistant to=self<|message|>a', 'b<|eot|>{<|start|>assistant to=self<|message|>a!}'],
  ['<|start|>assistant to=user<|message|>a<|eot|>', '<|start|>assistant to=user<|message|>a<|eot|>'],
  ['<|open|>response<|sep|>a<|close|>think', '<|open|>response<|sep|>a<|close|>think'],
  ['<|message|>a<|channel|>analysis<|end|>', '<|message|>a<|channel|>analysis<|end|>'],
])('thinkDelimitersIn finds those of other families: %s', (text, drawn) => {
  expect(draw(text)).toBe(drawn)
})

test('thoughtIn returns the text between the delimiters', () => {
  const blocks = [
    '<think>a</think>',
    '<think>a',
    'a</think>',
    'a',
    '[THINK]a[/THINK]',
    '<|channel>thought\na<channel|>',
    '<|open|>think<|sep|>a<|close|>think<|sep|>',
  ]
  expect(blocks.map(thoughtIn)).toEqual(Array(blocks.length).fill('a'))
})

test('thinkBlocks ignores a delimiter inside of a kimi call and accepts one between two calls', () => {
  const call = (body: string) => `<|tool_call_begin|>${body}<|tool_call_end|>`
  const text = `<|tool_calls_section_begin|>${call('<think>')}<think>${call('a')}</think>`
  const blocks = thinkBlocks(text, thinkDelimitersIn(text), false, kimiK2.delimiters)
  expect(blocks.map(({ start, end }) => text.slice(start, end))).toEqual([`<think>${call('a')}</think>`])
})
