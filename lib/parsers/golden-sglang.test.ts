/**
 * Compares the parsers with SGLang 0.5.23: golden/make_sglang.py runs its detectors on texts in their own format, and
 * docs/divergences.md names the differences.
 */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type SglangReadCall, sglangDivergenceNames, sglangDivergenceOf } from './golden/test-sglang-divergences.ts'
import type { ParsedCall, ToolParser } from './parser.ts'
import { parserNamed, parserNames, parserOfServer, serverParserFor } from './registry.ts'
import { parseText } from './test-draw.ts'

type Case = readonly [
  detector: string,
  group: string,
  text: string,
  result: { readonly rest: string; readonly calls: readonly (readonly [name: string, json: string])[] } | string,
]
const golden = JSON.parse(readFileSync(new URL('golden/sglang.json', import.meta.url), 'utf8')) as {
  readonly 'made with': string
  /** Schemas by name. */
  readonly tools: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly cases: readonly Case[]
}
const tools = Object.entries(golden.tools).map(([name, inputSchema]) => ({ name, inputSchema }))
/** Detectors that return calls of unknown tools. */
const KEEPS_UNKNOWN = /^(?:qwen3_coder|kimi_k2|kimi_k3|gemma4|inkling)$/

const compared = golden.cases.map(([detector, group, text, result]) => {
  const parser = parserNamed(parserOfServer(detector) ?? '') as ToolParser
  const calls = parseText(parser, text, tools)
  const ours = readCalls(calls, detector)
  const theirs =
    typeof result === 'string' ? result : result.calls.map(([name, json]): SglangReadCall => [name, sorted(json)])
  const divergence = sglangDivergenceOf({ parser: parser.name, detector, text, calls, ours, theirs })
  return { parser: parser.name, of: `${detector}, ${group}: ${text}`, divergence }
})

function readCalls(calls: readonly ParsedCall[], detector: string): readonly SglangReadCall[] {
  return calls.flatMap((call): readonly SglangReadCall[] =>
    call.kind === 'parsed' && (KEEPS_UNKNOWN.test(detector) || Object.hasOwn(golden.tools, call.name))
      ? [[call.name, sorted(JSON.stringify(call.input))]]
      : [],
  )
}

/** Normalizes JSON; invalid JSON such as Infinity is unchanged. */
function sorted(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), (_, part: unknown) =>
      typeof part === 'object' && part !== null && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
        : part,
    )
  } catch {
    return json
  }
}

test('the parsers read every golden text as SGLang does, or differ for a named reason', () => {
  expect(compared.filter(({ divergence }) => divergence === undefined).map(({ of }) => of)).toEqual([])
  expect(golden['made with']).toBe('sglang 0.5.23')
})

test('the golden texts have many examples of each format, and most agree except for the types of values', () => {
  const isAlike = (divergence: string | undefined) => divergence === '' || divergence === 'typed-by-schema'
  for (const name of parserNames.filter((one) => serverParserFor(one) !== undefined)) {
    const own = compared.filter(({ parser }) => parser === name)
    expect([name, own.length >= 60]).toEqual([name, true])
    expect([name, own.filter(({ divergence }) => isAlike(divergence)).length / own.length > 0.65]).toEqual([name, true])
  }
})

test('every divergence from SGLang occurs in the formats that its row of docs/divergences.md lists, and in no other', () => {
  const section =
    readFileSync('docs/divergences.md', 'utf8').split('## SGLang’s tool-call parsers')[1]?.split('\n## ')[0] ?? ''
  const listed = Array.from(section.matchAll(/^\| `([a-z-]+)` \| ([^|]+) \|/gm), ([, name = '', formats = '']) => [
    name,
    formats.split(', '),
  ])
  const shownIn = (name: string) =>
    parserNames.filter((parser) => compared.some((one) => one.parser === parser && one.divergence === name))
  expect(listed).toEqual(sglangDivergenceNames.map((name) => [name, shownIn(name)]))
})

test('sglangDivergenceOf notices a difference from SGLang without a known reason', () => {
  const reading = { parser: 'mistral', detector: 'mistral', text: '', calls: [], ours: [], theirs: [] }
  expect(sglangDivergenceOf(reading)).toBe('')
  expect(sglangDivergenceOf({ ...reading, theirs: [['f', '{}']] })).toBeUndefined()
})
