/** What holds for every parser, whatever the text. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { scanWhole } from './json-scan.ts'
import type { ToolParser } from './parser.ts'
import { DEFAULT_PARSER, parserNamed, parserNames, parserOfServer, parsers } from './registry.ts'
import { textWithoutCalls } from './rest.ts'
import { taken } from './test-draw.ts'
import { ADVERSARIAL, FRAGMENTS } from './test-texts.ts'

const anyText = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ maxLength: 3 })), { maxLength: 60 })
  .map((parts) => parts.join(''))
const anyRanges = fc
  .array(fc.nat(400), { maxLength: 4 })
  .map((places) => [...new Set(places)].sort((a, b) => a - b))
  .map((places) => places.flatMap((start, i) => (i % 2 === 0 ? [{ start, end: places[i + 1] ?? start + 1 }] : [])))
const schema = fc.constantFrom('string', 'integer', 'object', ['string', 'null'], ['number', 'boolean'], 'unheard-of')
const anyTools = fc.option(
  schema.map((type) => [{ name: 'f', inputSchema: { properties: { a: { type } } } }]),
  { nil: [] },
)

test.each(parsers)(
  '$name, any text: never throws, calls are in order and do not overlap, places lie in the text',
  (parser) => {
    fc.assert(
      fc.property(anyText, anyRanges, anyTools, (text, shielded, tools) => {
        let end = 0
        const calls = parser.parse(text, shielded, tools)
        for (const call of calls) {
          expect(call.text.start).toBeGreaterThanOrEqual(end)
          expect(text.startsWith(parser.delimiters.open, call.text.start)).toBe(true)
          expect(shielded.some(({ start, end }) => start <= call.text.start && call.text.start < end)).toBe(false)
          end = call.text.end
          expect(end).toBeLessThanOrEqual(text.length)
          expect(taken(text, call.text)).toContain(call.raw)
          if (call.kind === 'malformed') {
            expect(call.at).toBeGreaterThanOrEqual(call.text.start)
            expect(call.at).toBeLessThanOrEqual(end)
            continue
          }
          expect(text.slice(0, end).endsWith(parser.delimiters.close)).toBe(true)
          const name = taken(text, call.nameText)
          expect(parser.name === 'hermes' ? JSON.parse(name) : name).toBe(call.name)
          for (const { name, key } of call.arguments)
            expect(
              parser.name === 'qwen_xml' || parser.name === 'glm' ? taken(text, key) : JSON.parse(taken(text, key)),
            ).toBe(name)
          for (const range of call.ignored) expect(taken(text, call.text)).toContain(taken(text, range))
          const last = new Map(call.arguments.map((argument) => [argument.name, argument.text]))
          expect([...last.keys()].sort()).toEqual(Object.keys(call.input).sort())
          for (const [name, range] of last) {
            const written = taken(text, range)
            const value = call.input[name]
            if (value !== written) expect(JSON.parse(written)).toEqual(value)
            expect(range.start).toBeGreaterThan(call.text.start)
            expect(range.end).toBeLessThan(end)
          }
        }
        const rest = textWithoutCalls(text, calls, shielded, parser.delimiters)
        expect(rest.length).toBeLessThanOrEqual(text.length)
      }),
      { numRuns: 2000 },
    )
  },
)

const CALLS: Readonly<Record<string, (json: string) => string>> = {
  hermes: (json) => `<tool_call>{"name": "f", "arguments": {"a": ${json}}}</tool_call>`,
  qwen_xml: (json) => `<tool_call><function=f><parameter=a>\n${json}\n</parameter></function></tool_call>`,
  glm: (json) => `<tool_call>f<arg_key>a</arg_key><arg_value>${json}</arg_value></tool_call>`,
  kimi_k2: (json) =>
    `<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{"a": ${json}}<|tool_call_end|><|tool_calls_section_end|>`,
}
const inCall = ({ name }: ToolParser, json: string) => CALLS[name]?.(json) ?? ''

test.each(parsers)('$name: any JSON value that is no text comes back, and the text around the calls too', (parser) => {
  fc.assert(
    fc.property(
      fc.jsonValue().filter((value) => typeof value !== 'string'),
      fc.string(),
      fc.integer({ min: 1, max: 12 }),
      (value, around, count) => {
        fc.pre(!around.includes('<'))
        const json = JSON.stringify(value)
        const text = (around + inCall(parser, json)).repeat(count) + around
        const calls = parser.parse(text, [], [])
        expect(calls).toHaveLength(count)
        for (const call of calls)
          expect(call).toMatchObject({ kind: 'parsed', name: 'f', input: { a: JSON.parse(json) } })
        expect(textWithoutCalls(text, calls, [], parser.delimiters)).toBe(around.repeat(count + 1))
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
  if (parser.name === 'hermes' || parser.name === 'kimi_k2')
    expect(huge).toMatchObject({ kind: 'malformed', why: 'a number is larger than any that can be kept' })
  else expect(huge).toMatchObject({ input: { a: '1e999' } })
})

test('what stands behind a JSON value is an error', () => {
  expect(scanWhole(' 1 2', 0, 4)).toMatchObject({ ok: false, at: 3, why: 'something stands behind the JSON value' })
  expect(scanWhole(' [1] ', 0, 5)).toMatchObject({ ok: true })
})

test('parsers are found by name, and by the names that servers use', () => {
  expect(parserNames).toEqual(['hermes', 'qwen_xml', 'glm', 'kimi_k2'])
  expect(parserNames.map(parserNamed)).toEqual(parsers)
  expect([parserNamed('nope'), parserNamed('constructor')]).toEqual([undefined, undefined])
  expect(['qwen', 'qwen25', 'hermes', 'qwen3_coder', 'step3p5', 'nanbeige', 'mimo'].map(parserOfServer)).toEqual([
    ...Array(3).fill('hermes'),
    ...Array(4).fill('qwen_xml'),
  ])
  expect(['glm', 'glm45', 'glm47', 'kimi_k2'].map(parserOfServer)).toEqual(['glm', 'glm', 'glm', 'kimi_k2'])
  expect([undefined, '', 'llama3', 'constructor'].map(parserOfServer)).toEqual(Array(4).fill(undefined))
  expect(parserNamed(DEFAULT_PARSER)).toBeDefined()
})

// A parser whose time grew with the square of the text would need minutes for each of these; bench/parsers.ts times them.
test.each(parsers)('$name: a megabyte of anything ends', { timeout: 60_000 }, (parser) => {
  for (const unit of ADVERSARIAL) {
    const text = unit.repeat(1_000_000 / unit.length)
    expect(parser.parse(text, [], []).at(-1)?.text.end ?? 0, unit).toBeLessThanOrEqual(text.length)
  }
})
