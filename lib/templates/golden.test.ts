/**
 * Compares our renders with those of Python: golden/make.py renders the same with transformers. Texts are compared byte for byte, errors in
 * all fields.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import {
  CLOCK,
  compiledOnce,
  continuingGroups,
  featureGroups,
  type GoldenGroup,
  renderGolden,
  renderGroups,
  spanCases,
  withoutAddresses,
} from './golden/test-golden.ts'
import { knownDifferences } from './golden/test-known-differences.ts'

/** Outcomes are kept, because two tests read them. */
const renderedOnce = memoizeByIdentity(renderGolden)

const features = featureGroups()
const renders = renderGroups()
const continuing = continuingGroups()

beforeAll(() => {
  vi.useFakeTimers({ now: CLOCK, toFake: ['Date'] })
})
afterAll(() => {
  vi.useRealTimers()
})

describe('small templates render as in transformers:', () => {
  test.each(features.map((group) => [group.name, group] as const))('%s', (_, group) => compare(group))
})

describe('chat templates render every conversation and set of options as in transformers:', () => {
  test.each(renders.map((group) => [group.name, group] as const))('%s', (_, group) => compare(group))
})

describe('chat templates leave the last message open as in transformers:', () => {
  test.each(continuing.map((group) => [group.name, group] as const))('%s', (_, group) => compare(group))
})

test.each(spanCases())(
  'generation blocks of $name have the same spans as in transformers',
  ({ template, specialTokens, input, spans }) => {
    const { text, generation, hasGenerationTag } = compiledOnce(template, specialTokens).trace(input)
    const codePoints = (offset: number) => [...text.slice(0, offset)].length
    expect(generation.map(({ start, end }) => [codePoints(start), codePoints(end)])).toEqual(spans)
    expect(hasGenerationTag).toBe(true)
  },
)

test('a traced render equals the plain render, in pieces without gaps', () => {
  const texts = [...features, ...renders, ...continuing].flatMap(({ cases }) =>
    cases.flatMap((one) => {
      const rendered = renderedOnce(one)
      return typeof rendered === 'string' ? [{ ...one, rendered }] : []
    }),
  )
  expect(texts.length).toBeGreaterThan(6_000)
  for (const { template, specialTokens, input, rendered } of texts) {
    const { text, pieces } = compiledOnce(template, specialTokens).trace(input)
    assert.equal(withoutAddresses(text), rendered)
    let at = 0
    for (const { start, end } of pieces) {
      assert.equal(start, at)
      at = end
    }
    assert.equal(at, text.length)
  }
})

test('the golden files have all their cases, and every known difference is one of them', () => {
  const names = [...features, ...renders, ...continuing].flatMap(({ cases }) => cases.map(({ name }) => name))
  expect(names.length).toBe(new Set(names).size)
  expect(features.flatMap(({ cases }) => cases).length).toBeGreaterThan(5_300)
  expect(renders.flatMap(({ cases }) => cases).length).toBeGreaterThan(3_000)
  expect(continuing.flatMap(({ cases }) => cases).length).toBeGreaterThan(800)
  expect(Object.keys(knownDifferences).filter((name) => !names.includes(name))).toEqual([])
})

test('docs/divergences.md explains every difference', () => {
  const document = readFileSync('docs/divergences.md', 'utf8')
  expect([...new Set(Object.values(knownDifferences))].filter((name) => !document.includes(`| \`${name}\` |`))).toEqual(
    [],
  )
})

/** Compares the cases of a group. A case that is known to differ must differ; otherwise it must leave the list. */
function compare({ cases }: GoldenGroup): void {
  const compared = cases.map((one) => ({ ...one, ours: renderedOnce(one), known: one.name in knownDifferences }))
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)
  const wrong = compared.filter(({ expected, ours, known }) => same(expected, ours) === known)
  const shown = (side: 'expected' | 'ours') =>
    Object.fromEntries(wrong.map((one) => [one.known ? `agrees by now: ${one.name}` : one.name, one[side]]))
  expect(shown('ours')).toEqual(shown('expected'))
  expect(wrong.map(({ name }) => name)).toEqual([])
}
