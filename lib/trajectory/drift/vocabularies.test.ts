import { expect, test } from 'vitest'
import type { Vocab } from '../format/trajectory.ts'
import type { TrajectoryView } from '../tokens/trajectory-view.ts'
import { compareTrajectories } from './compare.ts'
import { mapToCommonVocabulary } from './vocabularies.ts'

type Tokenizer = NonNullable<TrajectoryView['model']['tokenizer']>

function trajectory(ids: readonly number[], vocab: Vocab, tokenizer?: Partial<Tokenizer>): TrajectoryView {
  return {
    format: 'rollscope.trajectory/1',
    id: 'one',
    createdAt: '2026-01-01T00:00:00.000Z',
    model: { tools: [], ...(tokenizer && { tokenizer: { name: 'one', specialIds: [], ...tokenizer } }) },
    vocab,
    segments: [{ kind: 'response', ids, thinks: [], toolCalls: [] }],
    outcome: { kind: 'ended', reason: 'end_turn' },
    provenance: { kind: 'recorded' },
  }
}

const texts = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes)
const common = (left: TrajectoryView, right: TrajectoryView) => {
  const { bytes, sameVocabulary, ...ids } = mapToCommonVocabulary(left, right)
  return {
    sameVocabulary,
    left: Array.from(ids.left),
    right: Array.from(ids.right),
    texts: Array.from(ids.left, (id) => texts(bytes(id))),
  }
}

test('mapToCommonVocabulary keeps ids of one tokenizer and takes missing texts from the other side', () => {
  const left = trajectory([1, 2, 9, 1], { 1: 'a' }, { fingerprint: 'x' })
  const right = trajectory([2, 9], { 2: { hex: 'c3' } }, { fingerprint: 'x' })
  expect(common(left, right)).toEqual({
    sameVocabulary: true,
    left: [1, 2, 9, 1],
    right: [2, 9],
    texts: ['a', '\uFFFD', undefined, 'a'],
  })
})

test('mapToCommonVocabulary gives tokens of two tokenizers equal numbers if their bytes are equal, and ids without a text if the ids are', () => {
  const left = trajectory([1, 2, 3, 7, 8, 1], { 1: '<|im_end|>', 2: 'é', 3: 'é' }, { fingerprint: 'x' })
  const right = trajectory([2, 1, 7, 5], { 1: { hex: 'c3a9' }, 2: '<|im_end|>', 5: 'new' }, { fingerprint: 'y' })
  expect(common(left, right)).toEqual({
    sameVocabulary: false,
    left: [2, 1, 1, 3, 4, 2],
    right: [2, 1, 3, 0],
    texts: ['<|im_end|>', 'é', 'é', undefined, undefined, '<|im_end|>'],
  })
  expect(compareTrajectories(left, right).report.sameVocabulary).toBe(false)
})

test('mapToCommonVocabulary treats an empty text as a text', () => {
  const [left, right] = [
    trajectory([1], { 1: '' }, { fingerprint: 'x' }),
    trajectory([2], { 2: '' }, { fingerprint: 'y' }),
  ]
  expect(common(left, right)).toEqual({ sameVocabulary: false, left: [0], right: [0], texts: [''] })
})

test('mapToCommonVocabulary gives the same result for swapped sides', () => {
  const left = trajectory([1, 7, 2], { 1: 'a', 2: 'b' }, { fingerprint: 'x' })
  const right = trajectory([1, 5, 2], { 1: 'c', 2: 'a' }, { fingerprint: 'y' })
  const [ours, theirs] = [compareTrajectories(left, right), compareTrajectories(right, left)]
  expect(theirs.alignedRuns).toEqual(
    ours.alignedRuns.map((alignedRun) => ({ ...alignedRun, left: alignedRun.right, right: alignedRun.left })),
  )
})

test.each<[string, Partial<Tokenizer> | undefined, Partial<Tokenizer> | undefined, Vocab, Vocab, boolean]>([
  ['with the same fingerprint', { fingerprint: 'x' }, { fingerprint: 'x', name: 'two' }, { 1: 'a' }, { 1: 'b' }, true],
  ['with other fingerprints', { fingerprint: 'x' }, { fingerprint: 'y' }, { 1: 'a' }, { 1: 'a' }, false],
  [
    'of a server and of a file with its name',
    { fingerprint: 'x' },
    { fingerprint: 'y', source: 'server' },
    { 1: ' a' },
    { 1: 'a' },
    true,
  ],
  ['of a server and of a file with another name', { name: 'a' }, { source: 'server' }, { 1: ' a' }, { 1: 'a' }, false],
  [
    'without a fingerprint and without a text that differs',
    {},
    { fingerprint: 'y' },
    { 1: 'a', 2: 'é' },
    { 2: { hex: 'c3a9' } },
    true,
  ],
  ['without a fingerprint, with a text that differs', {}, { fingerprint: 'y' }, { 1: 'a', 2: 'é' }, { 2: 'b' }, false],
  ['of which one is unknown', undefined, {}, {}, { 1: 'a' }, true],
])(
  'mapToCommonVocabulary compares the vocabularies of two tokenizers %s',
  (_, ours, theirs, vocab, other, expected) => {
    const [left, right] = [trajectory([1], vocab, ours), trajectory([1], other, theirs)]
    expect(mapToCommonVocabulary(left, right).sameVocabulary).toBe(expected)
    expect(mapToCommonVocabulary(right, left).sameVocabulary).toBe(expected)
  },
)

test('mapToCommonVocabulary prefers a file’s texts to a server’s on either side', () => {
  const file = trajectory([1], { 1: ' a' }, { fingerprint: 'x' })
  const server = trajectory([1], { 1: 'a' }, { fingerprint: 'y', source: 'server' })
  expect(common(file, server).texts).toEqual([' a'])
  expect(common(server, file).texts).toEqual([' a'])
})
