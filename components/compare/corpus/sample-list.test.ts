import { expect, test } from 'vitest'
import type { CheckedSample, Sample } from '#lib/analysis/corpus/sample.ts'
import { listedSamples } from './sample-list.ts'

const checked = (key: string, touched: number, tokens: number, kind?: 'split' | 'separator'): CheckedSample => ({
  kind: 'checked',
  id: key,
  place: { kind: 'stored', key },
  tokens: { left: tokens, right: tokens },
  trained: { touched, of: 100 },
  turns: 1,
  ...(kind && { severity: touched > 0 ? 'trained' : 'tail', worst: 0 }),
  kinds: kind
    ? [
        {
          kind,
          spans: { trained: 1, context: 0, tail: 0 },
          layers: kind === 'split' ? { structural: 0, content: 1 } : { structural: 1, content: 0 },
          trained: touched,
          gravest: { drift: 0, severity: 'trained', trained: touched, cause: '', remedy: '' },
        },
      ]
    : [],
  byTurn: [],
  byTool: [],
  prefixLost: 0,
  prefixKept: 0,
  rows: { count: 1, extra: 0, realigned: 0 },
  caveats: [],
})
const samples: readonly Sample[] = [
  checked('short', 5, 10, 'split'),
  checked('equal', 0, 99),
  { kind: 'unchecked', place: { kind: 'stored', key: 'unread' }, why: 'no tokenizer' },
  checked('long', 5, 50, 'separator'),
  checked('worst', 9, 20, 'split'),
]
const listed = (change: Partial<Parameters<typeof listedSamples>[1]>) =>
  listedSamples(samples, {
    list: 'drifting',
    kind: undefined,
    layer: undefined,
    sort: { by: 'trained', order: 'desc' },
    ...change,
  }).map(({ place }) => place.kind === 'stored' && place.key)

test('the sample list begins with the samples that have most affected trained tokens, the longest first among equals', () => {
  expect(listed({})).toEqual(['worst', 'long', 'short'])
})

test('a sample that differs only after its last trained token is in the list “all” and not in “drifting”', () => {
  const tail: Sample = { ...checked('tail', 0, 30, 'separator'), severity: 'tail' }
  const list = (name: 'drifting' | 'all') =>
    listedSamples([tail], { list: name, kind: undefined, layer: undefined, sort: { by: 'trained', order: 'desc' } })
  expect([list('drifting'), list('all')]).toEqual([[], [tail]])
})

test('unchecked samples are at the end of the sample list in both sort orders', () => {
  expect(listed({ list: 'all' })).toEqual(['worst', 'long', 'short', 'equal', 'unread'])
  expect(listed({ list: 'all', sort: { by: 'tokens', order: 'asc' } })).toEqual([
    'short',
    'worst',
    'long',
    'equal',
    'unread',
  ])
  expect(listed({ list: 'unchecked' })).toEqual(['unread'])
})

test('a layer filter lists the samples with drift of that layer and of the chosen kind', () => {
  expect(listed({ layer: 'structural' })).toEqual(['long'])
  expect(listed({ layer: 'content', list: 'all' })).toEqual(['worst', 'short'])
  expect(listed({ layer: 'content', kind: 'separator' })).toEqual([])
})

test('a kind filter lists the samples with that kind, sorted by any column', () => {
  expect(listed({ kind: 'split', list: 'all' })).toEqual(['worst', 'short'])
  expect(listed({ list: 'all', sort: { by: 'name', order: 'asc' } })).toEqual([
    'equal',
    'long',
    'short',
    'unread',
    'worst',
  ])
})
