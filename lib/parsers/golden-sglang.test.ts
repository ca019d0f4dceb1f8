/** The parsers against SGLang 0.5.23: golden/make_sglang.py runs its detectors over texts in their own format. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { divergenceNames, divergenceOf, type ReadCall } from './golden/test-sglang-divergences.ts'
import type { ParsedCall, ToolParser } from './parser.ts'
import { parserNamed, parserNames, parserOfServer } from './registry.ts'
import { parseText } from './test-draw.ts'

type Case = readonly [
  detector: string,
  group: string,
  text: string,
  result: { readonly rest: string; readonly calls: readonly (readonly [name: string, json: string])[] } | string,
]
const golden = JSON.parse(readFileSync(new URL('golden/sglang.json', import.meta.url), 'utf8')) as {
  readonly 'made with': string
  readonly tools: readonly string[]
  readonly cases: readonly Case[]
}
const tools = golden.tools.map((name) => ({ name, inputSchema: {} }))

const compared = golden.cases.map(([detector, group, text, result]) => {
  const parser = parserNamed(parserOfServer(detector) ?? '') as ToolParser
  const calls = parseText(parser, text, tools)
  const ours = readCalls(calls)
  const theirs =
    typeof result === 'string' ? result : result.calls.map(([name, json]): ReadCall => [name, sorted(json)])
  const divergence = divergenceOf({ parser: parser.name, text, calls, ours, theirs })
  return { parser: parser.name, of: `${parser.name}, ${group}: ${text}`, divergence }
})

/** SGLang drops calls of tools that are not given. */
function readCalls(calls: readonly ParsedCall[]): readonly ReadCall[] {
  return calls.flatMap((call): readonly ReadCall[] =>
    call.kind === 'parsed' && golden.tools.includes(call.name) ? [[call.name, sorted(JSON.stringify(call.input))]] : [],
  )
}

/** JSON as one spelling; what is none, such as Infinity, stands for itself. */
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

test('every text is read as by SGLang, or otherwise for a reason that has a name', () => {
  expect(compared.filter(({ divergence }) => divergence === undefined).map(({ of }) => of)).toEqual([])
  expect(golden['made with']).toBe('sglang 0.5.23')
})

test('there are many texts of each format, and most are read alike', () => {
  for (const name of parserNames.slice(4)) {
    const own = compared.filter(({ parser }) => parser === name)
    expect([name, own.length >= 60]).toEqual([name, true])
    expect([name, own.filter(({ divergence }) => divergence === '').length / own.length > 0.75]).toEqual([name, true])
  }
})

test('every divergence shows, and docs/divergences.md names the same', () => {
  const section =
    readFileSync('docs/divergences.md', 'utf8').split('## SGLang’s tool-call parsers')[1]?.split('\n## ')[0] ?? ''
  const listed = Array.from(section.matchAll(/^\| `([a-z-]+)` \|/gm), ([, name]) => name)
  expect(listed.sort()).toEqual([...divergenceNames].sort())
  const shown = new Set(compared.map(({ divergence }) => divergence).filter((name) => name !== ''))
  expect([...shown].sort()).toEqual([...divergenceNames].sort())
})

test('a difference that nothing tells is noticed', () => {
  const reading = { parser: 'mistral', text: '', calls: [], ours: [], theirs: [] }
  expect(divergenceOf(reading)).toBe('')
  expect(divergenceOf({ ...reading, theirs: [['f', '{}']] })).toBeUndefined()
})
