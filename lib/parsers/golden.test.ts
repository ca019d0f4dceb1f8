/** Compares the parsers with strands-sglang 0.6.2: golden/make.py runs its four parsers on the same texts. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { divergenceNames, divergencesOf, type PythonCall } from './golden/test-divergences.ts'
import { parsers } from './registry.ts'
import { parseText } from './test-draw.ts'

interface Case {
  readonly group: string
  readonly text: string
  readonly results: Readonly<Record<string, readonly PythonCall[] | string>>
}
/** Parsers of the formats that strands-sglang has too. */
const parsersOfPeer = parsers.filter(({ name }) => ['hermes', 'qwen_xml', 'glm', 'kimi_k2'].includes(name))

const { cases, 'made with': peer } = JSON.parse(
  readFileSync(new URL('golden/golden.json', import.meta.url), 'utf8'),
) as {
  readonly 'made with': string
  readonly cases: readonly Case[]
}

const compared = cases.flatMap(({ group, text, results }) =>
  parsersOfPeer.map((parser) => ({
    of: `${parser.name}, ${group}: ${text}`,
    isOwnFormat: group.endsWith(` ${parser.name}`),
    divergences: divergencesOf(text, parser, parseText(parser, text), results[parser.name] ?? []),
  })),
)
const agreed = compared.filter(({ divergences }) => divergences?.size === 0)

test('the parsers read every golden text as strands-sglang does, or differ for a named reason', () => {
  expect(compared.filter(({ divergences }) => divergences === undefined).map(({ of }) => of)).toEqual([])
  expect(peer).toBe('strands-sglang 0.6.2')
  expect(cases.length).toBeGreaterThan(1500)
})

test('most golden texts agree with strands-sglang, in the parser’s own format and in others', () => {
  const share = (some: typeof compared, all: typeof compared) => some.length / all.length
  const own = (all: typeof compared) => all.filter(({ isOwnFormat }) => isOwnFormat)
  expect(share(agreed, compared)).toBeGreaterThan(0.77)
  expect(share(own(agreed), own(compared))).toBeGreaterThan(0.6)
})

test('every divergence from strands-sglang occurs, and docs/divergences.md lists the same ones', () => {
  const section = readFileSync('docs/divergences.md', 'utf8').split('## Tool-call parsers')[1]?.split('\n## ')[0] ?? ''
  const listed = Array.from(section.matchAll(/^\| `([a-z-]+)` \|/gm), ([, name]) => name)
  expect(listed.sort()).toEqual([...divergenceNames, 'typed-by-schema'].sort())
  expect([...new Set(compared.flatMap(({ divergences }) => [...(divergences ?? [])]))].sort()).toEqual(
    [...divergenceNames].sort(),
  )
})

test('a tool’s schema keeps a text a text that strands-sglang turns into a number', () => {
  const tools: readonly ToolSpec[] = [{ name: 'f', inputSchema: { properties: { a: { type: 'string' } } } }]
  for (const parser of parsers.filter(({ name }) => name === 'qwen_xml' || name === 'glm')) {
    const values = cases.filter(({ group }) => group === `values ${parser.name}`)
    const otherwise = values.filter(({ text, results }) => {
      const [call] = parseText(parser, text, tools)
      if (call?.kind !== 'parsed') return false
      const [argument] = call.arguments
      expect(call.input.a).toBe(text.slice(argument?.text.start, argument?.text.end))
      const python = results[parser.name]?.[0] as PythonCall
      return JSON.stringify(python.input) !== JSON.stringify(call.input)
    })
    expect(otherwise.length).toBeGreaterThan(25)
    expect(values.length - otherwise.length).toBeGreaterThan(25)
  }
})

test('divergencesOf notices a difference from strands-sglang without a known reason', () => {
  const [hermes] = parsers
  if (!hermes) throw new Error('no parser')
  const text = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
  const found = (theirs: readonly PythonCall[] | string) => divergencesOf(text, hermes, parseText(hermes, text), theirs)
  expect(found([{ name: 'f', input: { a: 1 } }])).toEqual(new Set())
  expect(found([{ name: 'f', input: { a: 2 } }])).toBeUndefined()
  expect(found([{ name: 'g', input: { a: 1 } }])).toBeUndefined()
  expect(found([{ name: 'f' }])).toBeUndefined()
  expect(found('RecursionError')).toBeUndefined()
})
