import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { parserNamed, parserNames } from '../registry.ts'
import { CALL_TEMPLATES } from '../test-calls.ts'
import { parseText } from '../test-draw.ts'
import { thinkBlocks, thinkDelimitersIn } from '../thinking.ts'
import { toRegex } from './expression.ts'
import { type ForcedCalls, forcedCalls } from './forced-calls.ts'
import { grammarTexts } from './test-sample.ts'

const search: ToolSpec = {
  name: 'search_web',
  inputSchema: {
    type: 'object',
    properties: {
      query: { type: 'string' },
      limit: { type: ['integer', 'null'] },
      ratio: { type: 'number' },
      mode: { enum: ['fast', 'exact'] },
      level: { const: 2 },
      deep: { type: 'boolean' },
      filter: { $ref: '#/$defs/filter' },
      either: { anyOf: [{ type: 'integer' }, { type: 'array', items: { type: 'boolean' } }] },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['query', 'filter'],
    $defs: { filter: { type: 'object', properties: { a: { type: 'string' }, b: {} } } },
  },
}
const now: ToolSpec = { name: 'now', inputSchema: { type: 'object', properties: {} } }
const optionals: ToolSpec = {
  name: 'set',
  inputSchema: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'string' }, c: {} } },
}
const TOOLS = [search, now, optionals]

/** Formats without a grammar, each with the reason. */
const WITHOUT: Readonly<Record<string, string>> = {
  'gpt-oss': 'a call ends with its own stop token, which no grammar can choose among the stop tokens',
  muse: 'the prompt ends inside of the header of the first message',
  'minimax-m3': 'every value has tags of its own at every level',
  functionary_v32: 'the prompt ends inside of the header of the first message',
}

const named = parserNames.filter((name) => !(name in WITHOUT))
const forced = (name: string, changes: Partial<ForcedCalls> = {}) =>
  forcedCalls(name, {
    tools: TOOLS,
    mayRepeat: true,
    template: CALL_TEMPLATES[name] ?? '',
    closeThink: undefined,
    ...changes,
  }) ?? expect.fail(`${name} has no grammar`)

const parserOf = (name: string) => parserNamed(name) ?? expect.fail(`no parser ${name}`)

describe.each(named)('The grammar of forced calls of the parser %s', (name) => {
  test('has only texts that the parser reads as calls of the tools', () => {
    fc.assert(
      fc.property(grammarTexts(forced(name), 2), (text) => {
        const calls = parseText(parserOf(name), text, TOOLS)
        expect(calls.length).toBeGreaterThan(0)
        for (const call of calls) {
          if (call.kind === 'malformed' && call.why.includes('is given twice')) return
          expect(call, text).toMatchObject({ kind: 'parsed' })
          const tool = TOOLS.find((one) => call.name === one.name) ?? expect.fail(`an unknown tool: ${call.name}`)
          if (call.kind !== 'parsed' || tool.name !== 'search_web') continue
          const { query, filter, limit = 1, mode = 'fast', level = 2, deep = true } = call.input
          expect([typeof query, typeof filter, typeof deep]).toEqual(['string', 'object', 'boolean'])
          expect(limit === null || Number.isInteger(limit)).toBe(true)
          expect(['fast', 'exact']).toContain(mode)
          expect(level).toBe(2)
        }
      }),
    )
  })

  test('is one call if a reply may have only one', () => {
    fc.assert(
      fc.property(grammarTexts(forced(name, { mayRepeat: false }), 2), (text) => {
        expect(parseText(parserOf(name), text, TOOLS)).toHaveLength(1)
      }),
    )
  })

  test('is a regular expression of the same texts', () => {
    const grammar = forced(name)
    const pattern = new RegExp(`^(?:${toRegex(grammar, 2)})$`, 'u')
    fc.assert(fc.property(grammarTexts(grammar, 2), (text) => pattern.test(text)))
  })

  test('begins after the think block in which the prompt ends', () => {
    const grammar = forced(name, { closeThink: '</think>', mayRepeat: false, tools: [now] })
    fc.assert(
      fc.property(grammarTexts(grammar, 2), (text) => {
        const parser = parserOf(name)
        const thinks = thinkBlocks(text, thinkDelimitersIn(text), true, parser.delimiters)
        expect(parser.parse(text, thinks, [now])).toMatchObject([{ kind: 'parsed', name: 'now' }])
      }),
    )
  })
})

test.each(Object.keys(WITHOUT))('The parser %s has no grammar of forced calls', (name) => {
  expect(forcedCalls(name, { tools: TOOLS, mayRepeat: true, template: '', closeThink: undefined })).toBeUndefined()
})

describe('A format with variants', () => {
  const first = (name: string, template: string) =>
    toRegex(forced(name, { template, tools: [now], mayRepeat: false }), 2)

  test('follows the chat template', () => {
    expect(first('mistral', '[TOOL_CALLS]')).toMatch(/^\\\[TOOL_CALLS\\\] \\\[/)
    expect(first('mistral', '[TOOL_CALLS]{{ name }}[ARGS]')).toMatch(/^\\\[TOOL_CALLS\\\]now\\\[ARGS\\\]/)
    expect(first('hunyuan', '<tool_call:opensource>')).toContain('<tool_calls:opensource>')
    expect(first('hunyuan', '<tool_calls>')).toMatch(/^<tool_calls>/)
    expect(first('longcat', '<longcat_arg_key>')).toMatch(/^<longcat_tool_call>now/)
    expect(first('longcat', '<longcat_tool_call>')).toMatch(/^<longcat_tool_call>\\n\\\{/)
  })

  test('has no grammar for a variant without its token', () => {
    const template = '<|role_sep|>'
    expect(forcedCalls('gigachat3', { tools: [now], mayRepeat: true, template, closeThink: undefined })).toBeUndefined()
  })
})

test.each([
  ['glm', { name: 'two words', inputSchema: {} }, '"two words"'],
  ['qwen_xml', { name: 'f', inputSchema: { properties: { 'a>b': {} } } }, '"a>b"'],
  ['pythonic', { name: 'f', inputSchema: { properties: { 'a-b': {} } } }, '"a-b"'],
  ['gemma4', { name: 'f', inputSchema: { properties: { 'a b': {} } } }, '"a b"'],
])('The grammar of %s refuses a name that its calls cannot write', (name, tool, words) => {
  expect(() => forced(name, { tools: [tool] })).toThrow(RangeError)
  expect(() => forced(name, { tools: [tool] })).toThrow(words)
})

test('Arguments between tags follow references to other schemas, and end at a reference to itself', () => {
  const inputSchema = {
    properties: { a: { $ref: '#/$defs/a' }, b: { $ref: '#/properties/b' }, c: true, d: { description: 'any' } },
    required: ['a', 'c'],
    $defs: { a: { oneOf: [{ type: 'integer' }, { const: 'x' }] } },
  }
  const grammar = forced('qwen_xml', { tools: [{ name: 'f', inputSchema }], mayRepeat: false })
  const pattern = new RegExp(`^(?:${toRegex(grammar, 2)})$`, 'u')
  const written = (a: string) =>
    `<tool_call>\n<function=f>\n<parameter=a>\n${a}\n</parameter>\n<parameter=c>\nany <b>\n</parameter>\n</function>\n</tool_call>`
  expect(['7', 'x', 'y', '"x"'].map((a) => pattern.test(written(a)))).toEqual([true, true, false, false])
})

test('Arguments between tags have the values that JSON has for schemas in several parts, objects without a type, and empty choices', () => {
  const inputSchema = {
    properties: {
      a: { allOf: [{ type: 'integer' }] },
      b: { properties: { x: { type: 'integer' } }, required: ['x'] },
      c: { anyOf: [], type: 'null' },
    },
    required: ['a', 'b', 'c'],
  }
  const tools = [{ name: 'f', inputSchema }]
  const pattern = new RegExp(`^(?:${toRegex(forced('qwen_xml', { tools, mayRepeat: false }), 2)})$`, 'u')
  const written = (values: readonly string[]) => {
    const all = values.map((value, index) => `<parameter=${'abc'[index]}>\n${value}\n</parameter>\n`)
    return `<tool_call>\n<function=f>\n${all.join('')}</function>\n</tool_call>`
  }
  const fitting = ['7', '{"x": 1}', 'null']
  expect(pattern.test(written(fitting))).toBe(true)
  for (const [index, value] of ['seven', '{"x": "one"}', '7'].entries())
    expect(pattern.test(written(fitting.with(index, value)))).toBe(false)
  expect(parseText(parserOf('qwen_xml'), written(fitting), tools)).toMatchObject([
    { kind: 'parsed', input: { a: 7, b: { x: 1 }, c: null } },
  ])
})
