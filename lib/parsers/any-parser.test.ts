/** What holds for every parser, whatever the text. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scanWhole } from '#lib/json/json-scan.ts'
import { literalJson } from '#lib/json/python-literal.ts'
import { runs } from '#testing/property-runs.ts'
import { spellingsOf, type TextRange, type ToolParser } from './parser.ts'
import { LFM2_WORDS } from './python/lfm2.ts'
import { markupIn, textWithoutCalls } from './reading/rest.ts'
import { DEFAULT_PARSER, parserNamed, parserNames, parserOfServer, parsers, serverParserFor } from './registry.ts'
import { gemmaJson } from './tags/gemma-value.ts'
import { unescapedXml } from './tags/minicpm5.ts'
import { minimaxM3 } from './tags/minimax-m3.ts'
import { taken } from './test-draw.ts'
import { ADVERSARIAL, FRAGMENTS } from './test-texts.ts'

/** Calls of the parser, whole and with a part taken out, among fragments of all formats. */
function anyTextFor(parser: ToolParser): fc.Arbitrary<string> {
  const call = fc.jsonValue({ maxDepth: 2 }).map((value) => inCall(parser, JSON.stringify(value)))
  const broken = fc
    .tuple(call, fc.nat(), fc.nat(8))
    .map(([text, place, size]) => text.slice(0, place % text.length) + text.slice((place % text.length) + size))
  const fragment = fc.constantFrom(...FRAGMENTS)
  const part = fc.oneof({ weight: 3, arbitrary: fragment }, fc.string({ maxLength: 3 }), call, broken)
  return fc.array(part, { maxLength: 40, size: 'max' }).map((parts) => parts.join(''))
}
const anyRanges = fc
  .array(fc.nat(400), { maxLength: 4 })
  .map((places) => [...new Set(places)].sort((a, b) => a - b))
  .map((places) => places.flatMap((start, i) => (i % 2 === 0 ? [{ start, end: places[i + 1] ?? start + 1 }] : [])))
const schema = fc.constantFrom('string', 'integer', 'object', ['string', 'null'], ['number', 'boolean'], 'unheard-of')
const anyTools = fc.option(
  schema.map((type) => [{ name: 'f', inputSchema: { properties: { a: { type } } } }]),
  { nil: [] },
)

// By assert: an expect takes longer than a parse.
test.each(parsers)(
  '$name, any text: never throws, calls are in order and do not overlap, places lie in the text',
  (parser) => {
    fc.assert(
      fc.property(anyTextFor(parser), anyRanges, anyTools, (text, shielded, tools) => {
        let end = 0
        const calls = parser.parse(text, shielded, tools)
        for (const call of calls) {
          assert.ok(call.text.start >= end)
          const written = taken(text, call.text)
          const spellings = spellingsOf(parser.delimiters)
          if (parser.delimiters.close !== '') assert.ok(spellings.some(({ open }) => written.startsWith(open)))
          assert.ok(!shielded.some(({ start, end }) => start <= call.text.start && call.text.start < end))
          end = call.text.end
          assert.ok(end <= text.length)
          assert.ok(written.includes(call.raw))
          if (call.kind === 'malformed') {
            assert.ok(call.at >= call.text.start && call.at <= end)
            continue
          }
          if (!written.endsWith('/>')) assert.ok(spellings.some(({ close }) => written.endsWith(close)))
          assert.equal(spelled(taken(text, call.nameText)), call.name)
          for (const { name, key } of call.arguments) assert.equal(spelled(taken(text, key)), name)
          for (const range of call.ignored) assert.ok(written.includes(taken(text, range)))
          const last = new Map(call.arguments.map((argument) => [argument.name, argument.text]))
          assert.deepEqual([...last.keys()].sort(), Object.keys(call.input).sort())
          for (const [name, range] of last) {
            const written = taken(text, range)
            const value = call.input[name]
            if (value !== written && value !== unescapedXml(written)) expect(readings(written)).toContainEqual(value)
            assert.ok(range.start > call.text.start && range.end < end)
          }
        }
        expectMarkupApart(markupIn(text, calls, shielded, parser), [...calls.map((call) => call.text), ...shielded])
        const rest = textWithoutCalls(text, calls, shielded, parser)
        assert.ok(rest.length <= text.length)
      }),
      { numRuns: runs(120) },
    )
  },
)

/** As JSON, Python, LFM2, Gemma 4 and MiniMax M3 read it, some of them without XML's escapes. */
const readings = (written: string): unknown[] => [
  ...[written, unescapedXml(written)]
    .flatMap((text) => [text, literalJson(text), literalJson(text, LFM2_WORDS), gemmaJson(text)])
    .flatMap((json) => {
      try {
        return json === undefined ? [] : [JSON.parse(json)]
      } catch {
        return []
      }
    }),
  ...[undefined, 'object'].flatMap((type) => {
    const tools = [{ name: 'f', inputSchema: { properties: { a: { type } } } }]
    const [call] = minimaxM3.parse(inCall(minimaxM3, written), [], tools)
    return call?.kind === 'parsed' ? [call.input.a] : []
  }),
]

/** A name stands bare, or as JSON writes it. */
const spelled = (written: string): unknown => {
  try {
    return /^".*"$/s.test(written) ? JSON.parse(written) : written
  } catch {
    return written
  }
}

/** What belongs to the format is in no call, begins in no think block, and is in order. */
function expectMarkupApart(markup: readonly TextRange[], others: readonly TextRange[]): void {
  let end = 0
  for (const range of markup) {
    assert.ok(range.start >= end)
    end = range.end
    assert.ok(!others.some((other) => other.start <= range.start && range.start < other.end))
  }
}

const CALLS: Readonly<Record<string, (json: string) => string>> = {
  hermes: (json) => `<tool_call>{"name": "f", "arguments": {"a": ${json}}}</tool_call>`,
  qwen_xml: (json) => `<tool_call><function=f><parameter=a>\n${json}\n</parameter></function></tool_call>`,
  glm: (json) => `<tool_call>f<arg_key>a</arg_key><arg_value>${json}</arg_value></tool_call>`,
  kimi_k2: (json) =>
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": ${json}}<|tool_call_end|><|tool_calls_section_end|>`,
  llama3: (json) => `<|python_tag|>{"name": "f", "parameters": {"a": ${json}}}`,
  mistral: (json) => `[TOOL_CALLS] [{"name": "f", "arguments": {"a": ${json}}}]`,
  deepseek_v3: (json) =>
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n\`\`\`json\n{"a": ${json}}\n\`\`\`<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  deepseek_v31: (json) =>
    `<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{"a": ${json}}<｜tool▁call▁end｜><｜tool▁calls▁end｜>`,
  deepseek_v32: (json) =>
    `<｜DSML｜function_calls><｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="false">${json}</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜function_calls>`,
  'gpt-oss': (json) =>
    `<|start|>assistant<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"a": ${json}}<|call|>`,
  pythonic: (json) => `[f(a=${pythonOf(json)})]`,
  lfm2: (json) => `<|tool_call_start|>[f(a=${json})]<|tool_call_end|>`,
  cohere_command4: (json) =>
    `<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": ${json}}}]<|END_ACTION|>`,
  apertus2509: (json) => `<|tools_prefix|>[{"f": {"a": ${json}}}]<|tools_suffix|>`,
  gemma4: (json) => `<|tool_call>call:f{a:${gemmaOf(json)}}<tool_call|>`,
  'minimax-m2': (json) =>
    `<minimax:tool_call><invoke name="f"><parameter name="a">${json}</parameter></invoke></minimax:tool_call>`,
  deepseek_v4: (json) =>
    `<｜DSML｜tool_calls><｜DSML｜invoke name="f"><｜DSML｜parameter name="a" string="false">${json}</｜DSML｜parameter></｜DSML｜invoke></｜DSML｜tool_calls>`,
  kimi_k3: (json) =>
    `<|open|>tools<|sep|><|open|>call tool="f" index="1"<|sep|><|open|>argument key="a" type="${typeOf(json)}"<|sep|>${json}<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>`,
  muse: (json) =>
    `<atem:function_calls><atem:invoke name="f"><atem:parameter name="a">${json}</atem:parameter></atem:invoke></atem:function_calls>`,
  gigachat3: (json) => `<|function_call|>{"name": "f", "arguments": {"a": ${json}}}`,
  hunyuan: (json) =>
    `<tool_calls:opensource><tool_call:opensource>f<tool_sep:opensource><arg_key:opensource>a</arg_key:opensource><arg_value:opensource>${json}</arg_value:opensource></tool_call:opensource></tool_calls:opensource>`,
  'minimax-m3': (json) =>
    `]<]minimax[>[<tool_call>]<]minimax[>[<invoke name="f">]<]minimax[>[<a>${json}]<]minimax[>[</a>]<]minimax[>[</invoke>]<]minimax[>[</tool_call>`,
  seed_oss: (json) => `<seed:tool_call><function=f><parameter=a>${json}</parameter></function></seed:tool_call>`,
  tool_calls: (json) => `<tool_calls>\n{"name": "f", "arguments": {"a": ${json}}}\n</tool_calls>`,
  nemotron: (json) => `<TOOLCALL>[{"name": "f", "arguments": {"a": ${json}}}]</TOOLCALL>`,
  command_r: (json) => `Action:\n\`\`\`json\n[{"tool_name": "f", "parameters": {"a": ${json}}}]\`\`\``,
  functionary_v31: (json) => `<function=f>{"a": ${json}}</function>`,
  functionary_v32: (json) => `>>>f\n{"a": ${json}}`,
  solar_open: (json) =>
    `<|tool_calls|><|tool_call:begin|>a1b2c3d4e5<|tool_call:name|>f<|tool_call:args|>{"a": ${json}}<|tool_call:end|><|calls|>`,
  minicpm5: (json) => `<function name="f"><param name="a">${json}</param></function>`,
}

const typeOf = (json: string): string =>
  ({ '[': 'array', '{': 'object', t: 'boolean', f: 'boolean', n: 'null' })[json[0] ?? ''] ?? 'number'

/** Texts and names between the quotes of Gemma 4. */
const gemmaOf = (json: string): string =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"/g, (found) => `<|"|>${JSON.parse(found)}<|"|>`)

const PYTHON_WORDS: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }
const pythonOf = (json: string): string =>
  json.replaceAll(/"(?:[^"\\]|\\.)*"|true|false|null/g, (found) => PYTHON_WORDS[found] ?? found)

const inCall = ({ name }: ToolParser, json: string) => CALLS[name]?.(json) ?? ''

test.each(parsers)('$name: any JSON value that is no text comes back, and the text around the calls too', (parser) => {
  fc.assert(
    fc.property(
      fc.jsonValue().filter((value) => typeof value !== 'string'),
      fc.string(),
      fc.integer({ min: 1, max: 12 }),
      (value, around, count) => {
        fc.pre(!/[<[{;,]/.test(around))
        const json = JSON.stringify(value)
        const text = (around + inCall(parser, json)).repeat(count) + around
        const calls = parser.parse(text, [], [])
        expect(calls).toHaveLength(count)
        for (const call of calls) {
          assert.ok(call.kind === 'parsed' && call.name === 'f')
          expect(call.input.a).toEqual(JSON.parse(json))
        }
        expect(textWithoutCalls(text, calls, [], parser)).toBe(around.repeat(count + 1))
      },
    ),
  )
})

test.each(parsers)('$name: nesting of 100,000 levels is an error result', (parser) => {
  for (const json of [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, '{"a":'.repeat(100_000), '['.repeat(100_000)])
    for (const tools of [[], [{ name: 'f', inputSchema: { properties: { a: { type: ['object', 'string'] } } } }]])
      expect(parser.parse(inCall(parser, json), [], tools)).toMatchObject([
        { kind: 'malformed', why: expect.stringContaining('nested deeper than 128 levels') },
      ])
})

test.each(parsers)('$name: numbers as JavaScript has them; one beyond its range is no number', (parser) => {
  const read = (json: string) => parser.parse(inCall(parser, json), [], [])[0]
  expect(read('1.0')).toMatchObject({ input: { a: 1 }, raw: expect.stringContaining('1.0') })
  expect(read('12345678901234567890123')).toMatchObject({ raw: expect.stringContaining('12345678901234567890123') })
  const huge = read('1e999')
  if (/^(?:qwen_xml|glm|minimax-m2|muse|hunyuan|minimax-m3|minicpm5|seed_oss)$/.test(parser.name))
    expect(huge).toMatchObject({ input: { a: '1e999' } })
  else
    expect(huge).toMatchObject({
      kind: 'malformed',
      why: expect.stringMatching(/a number is larger than any that can be kept$/),
    })
})

test('what stands behind a JSON value is an error', () => {
  expect(scanWhole(' 1 2', 0, 4)).toMatchObject({ ok: false, at: 3, why: 'something stands behind the JSON value' })
  expect(scanWhole(' [1] ', 0, 5)).toMatchObject({ ok: true })
})

/** SGLang has no parser for these formats. */
const WITHOUT_DETECTOR = [
  ...['seed_oss', 'tool_calls', 'nemotron', 'command_r', 'functionary_v31', 'functionary_v32', 'solar_open'],
]

test('parsers are found by name, and by the names that servers use', () => {
  expect(parserNames).toEqual([
    ...['hermes', 'qwen_xml', 'glm', 'kimi_k2', 'llama3', 'mistral', 'deepseek_v3', 'deepseek_v31', 'deepseek_v32'],
    ...[
      'gpt-oss',
      'pythonic',
      'gemma4',
      'minimax-m2',
      'deepseek_v4',
      'kimi_k3',
      'lfm2',
      'cohere_command4',
      'apertus2509',
      'muse',
      'gigachat3',
      'hunyuan',
      'minimax-m3',
      'minicpm5',
      ...WITHOUT_DETECTOR,
    ],
  ])
  expect(parserNames.map(parserNamed)).toEqual(parsers)
  expect([parserNamed('nope'), parserNamed('constructor')]).toEqual([undefined, undefined])
  expect(['qwen', 'qwen25', 'hermes', 'qwen3_coder', 'step3p5', 'nanbeige', 'mimo'].map(parserOfServer)).toEqual([
    ...Array(3).fill('hermes'),
    ...Array(4).fill('qwen_xml'),
  ])
  expect(['glm', 'glm45', 'glm47', 'kimi_k2'].map(parserOfServer)).toEqual(['glm', 'glm', 'glm', 'kimi_k2'])
  const others = [
    'llama3',
    'mistral',
    'deepseekv3',
    'deepseekv31',
    'deepseekv32',
    'gpt-oss',
    'pythonic',
    'gemma4',
    'minimax-m2',
    'deepseekv4',
    'kimi_k3',
    'lfm2',
    'cohere_command4',
    'apertus2509',
    'muse',
    'gigachat3',
    'hunyuan',
    'minimax-m3',
    'minicpm5',
  ]
  expect(others.map(parserOfServer)).toEqual(parserNames.slice(4, -WITHOUT_DETECTOR.length))
  expect(parserNames.map(serverParserFor).map(parserOfServer)).toEqual(
    parserNames.map((name) => (WITHOUT_DETECTOR.includes(name) ? undefined : name)),
  )
  expect([undefined, '', 'interns1', 'constructor'].map(parserOfServer)).toEqual(Array(4).fill(undefined))
  expect(serverParserFor('interns1')).toBeUndefined()
  expect(parserNamed(DEFAULT_PARSER)).toBeDefined()
})

// A parser whose time grew with the square of the text would need seconds for each of these; bench/parsers.ts times them.
test.each(parsers)('$name: 50 kB of anything end, and take no fifty times as long as 5 kB', (parser) => {
  const time = (unit: string, length: number) => {
    const text = unit.repeat(length / unit.length)
    const before = process.threadCpuUsage().user
    assert.ok((parser.parse(text, [], []).at(-1)?.text.end ?? 0) <= text.length)
    return process.threadCpuUsage().user - before
  }
  for (const unit of ADVERSARIAL) {
    const short = time(unit, 5_000)
    assert.ok(time(unit, 50_000) < 50 * Math.max(3_000, short), unit)
  }
})
