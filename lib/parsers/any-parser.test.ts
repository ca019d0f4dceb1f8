/** Invariants of every parser for any text. */

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scanWhole } from '#lib/json/json-scan.ts'
import { literalJson } from '#lib/json/python-literal.ts'
import { runs } from '#testing/property-runs.ts'
import { spellingsOf, type TextRange, type ToolParser } from './parser.ts'
import { PYTHON_AND_JSON_WORDS } from './python/python-calls.ts'
import { markupIn, textWithoutCalls } from './reading/rest.ts'
import { DEFAULT_PARSER, parserNamed, parserNames, parserOfServer, parsers, serverParserFor } from './registry.ts'
import { gemmaJson } from './tags/gemma-value.ts'
import { unescapedXml } from './tags/minicpm5.ts'
import { minimaxM3 } from './tags/minimax-m3.ts'
import { CALLS, UNTYPED } from './test-calls.ts'
import { textInRange } from './test-draw.ts'
import { ADVERSARIAL, FRAGMENTS } from './test-texts.ts'

/** Calls of the parser, whole and with a part removed, among fragments of all formats. */
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

// Uses assert, because an expect takes longer than a parse.
test.each(parsers)(
  '$name never throws on any text, and its calls are in order, disjoint and inside of the text',
  (parser) => {
    fc.assert(
      fc.property(anyTextFor(parser), anyRanges, anyTools, (text, shielded, tools) => {
        let end = 0
        const calls = parser.parse(text, shielded, tools)
        for (const call of calls) {
          assert.ok(call.text.start >= end)
          const written = textInRange(text, call.text)
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
          // The raw text has all but the delimiters. Calls in lists have none of their own, and gpt-oss has a header in place of the first.
          const { raw } = call
          const isWhole = spellings.some(({ open, close, end = close }) =>
            [open + raw + close, raw + end, raw].includes(written),
          )
          assert.ok(isWhole || written.endsWith('/>'))
          assert.equal(spelled(textInRange(text, call.nameText)), call.name)
          for (const { name, key } of call.arguments) assert.equal(spelled(textInRange(text, key)), name)
          for (const range of call.ignored) assert.ok(written.includes(textInRange(text, range)))
          const last = new Map(call.arguments.map((argument) => [argument.name, argument.text]))
          assert.deepEqual([...last.keys()].sort(), Object.keys(call.input).sort())
          for (const [name, range] of last) {
            const written = textInRange(text, range)
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

/** Reads a text as JSON, Python, LFM2, Gemma 4 and MiniMax M3 do, some of them without XML's escapes. */
const readings = (written: string): unknown[] => [
  ...[written, unescapedXml(written)]
    .flatMap((text) => [text, literalJson(text), literalJson(text, PYTHON_AND_JSON_WORDS), gemmaJson(text)])
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

/** A name is bare or in JSON notation. */
const spelled = (written: string): unknown => {
  try {
    return /^".*"$/s.test(written) ? JSON.parse(written) : written
  } catch {
    return written
  }
}

/** Expects markup outside of calls, not beginning in a think block, and in order. */
function expectMarkupApart(markup: readonly TextRange[], others: readonly TextRange[]): void {
  let end = 0
  for (const range of markup) {
    assert.ok(range.start >= end)
    end = range.end
    assert.ok(!others.some((other) => other.start <= range.start && range.start < other.end))
  }
}

const inCall = ({ name }: ToolParser, json: string) => CALLS[name]?.(json) ?? ''

test.each(parsers)('$name reads back any JSON value that is not a text, and the text around the calls', (parser) => {
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

test.each(parsers)('$name reports nesting of 100,000 levels as an error', (parser) => {
  for (const json of [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, '{"a":'.repeat(100_000), '['.repeat(100_000)])
    for (const tools of [[], [{ name: 'f', inputSchema: { properties: { a: { type: ['object', 'string'] } } } }]])
      expect(parser.parse(inCall(parser, json), [], tools)).toMatchObject([
        { kind: 'malformed', why: expect.stringContaining('nested deeper than 128 levels') },
      ])
})

test.each(parsers)('$name reads numbers that JavaScript has, and refuses one beyond its range', (parser) => {
  const read = (json: string) => parser.parse(inCall(parser, json), [], [])[0]
  expect(read('1.0')).toMatchObject({ input: { a: 1 }, raw: expect.stringContaining('1.0') })
  expect(read('12345678901234567890123')).toMatchObject({ raw: expect.stringContaining('12345678901234567890123') })
  const huge = read('1e999')
  if (UNTYPED.includes(parser.name)) expect(huge).toMatchObject({ kind: 'parsed', input: { a: '1e999' } })
  else
    expect(huge).toMatchObject({
      kind: 'malformed',
      why: expect.stringMatching(/a number is larger than any that can be represented$/),
    })
})

test('every parser reports text after a JSON value as an error', () => {
  expect(scanWhole(' 1 2', 0, 4)).toMatchObject({ ok: false, at: 3, why: 'unexpected text after the JSON value' })
  expect(scanWhole(' [1] ', 0, 5)).toMatchObject({ ok: true })
})

test('a parser is found by its name, and by the names that servers use', () => {
  expect(parserNames).toEqual(Object.keys(CALLS))
  expect(parserNames.map(parserNamed)).toEqual(parsers)
  expect([parserNamed('nope'), parserNamed('constructor')]).toEqual([undefined, undefined])
  expect(['qwen', 'hermes', 'qwen3_coder', 'glm47', 'deepseekv31'].map(parserOfServer)).toEqual([
    ...['hermes', 'hermes', 'qwen_xml', 'glm', 'deepseek_v31'],
  ])
  for (const name of parserNames) {
    const served = serverParserFor(name)
    if (served !== undefined) expect(parserOfServer(served)).toBe(name)
  }
  expect([undefined, '', 'beam', 'constructor'].map(parserOfServer)).toEqual(Array(4).fill(undefined))
  expect(serverParserFor('beam')).toBeUndefined()
  expect(parserNamed(DEFAULT_PARSER)).toBeDefined()
})

test('docs/template-lab.md lists every parser with its names in SGLang', () => {
  const [, table = ''] = readFileSync('docs/template-lab.md', 'utf8').split(
    '| parser | SGLang’s names | what it reads |\n| --- | --- | --- |',
  )
  const rows = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| ([\w-]+) \| ([^|]+) \| \S.* \|$/gm)].map(
    ([, name, names = '']) => ({
      name,
      names,
    }),
  )
  expect(rows.map(({ name }) => name).toSorted()).toEqual(parserNames.toSorted())
  for (const { name = '', names } of rows)
    expect([name, names.split(', ').map(parserOfServer)]).toEqual(
      names === '–' && serverParserFor(name) === undefined
        ? [name, [undefined]]
        : [name, names.split(', ').map(() => name)],
    )
})

// A parser with quadratic time would need seconds for each of these; bench/computation/parsers.ts measures them.
test.each(parsers)('$name parses 50 kB of any text in less than fifty times the time of 5 kB', (parser) => {
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
