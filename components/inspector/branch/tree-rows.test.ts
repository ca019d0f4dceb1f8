import { expect, test } from 'vitest'
import {
  differentPieces,
  foundPiece,
  matchingRows,
  separateValueSamples,
  sharedWithMain,
  type TreeLeaf,
  type TreeRow,
  treeRows,
} from './tree-rows.ts'

const leaf = (key: string, fork: TreeLeaf['fork'], group?: string) =>
  ({
    row: { key, group: group === undefined ? null : { id: group, index: 0 } },
    isValueSample: false,
    fork,
  }) as TreeLeaf
const fork = (from: number | null, at: number) =>
  ({ from, token: at, kind: 'forced', inserted: null, edited: null, sampled: null }) as const

const drawn = (rows: readonly TreeRow[]): readonly unknown[] =>
  rows.map((row) => (row.kind === 'leaf' ? `${row.depth}${row.leaf.row.key}` : drawn(row.rows)))

test('treeRows lists each trajectory before its forks, by position, and those without a first one too', () => {
  const leaves = [leaf('a', null), leaf('b', fork(0, 9)), leaf('c', fork(0, 5)), leaf('d', fork(1, 12))]
  expect(drawn(treeRows(leaves))).toEqual(['0a', '1c', '1b', '2d'])
  expect(drawn(treeRows([leaf('a', fork(1, 0)), leaf('b', fork(0, 0))]))).toEqual(['0a', '1b'])
})

test('treeRows puts the samples of one request together, with their own forks, and leaves single ones alone', () => {
  const leaves = [
    leaf('main', null, 'original'),
    leaf('x', fork(0, 7), 'g'),
    leaf('early', fork(0, 3)),
    leaf('y', fork(0, 7), 'g'),
    leaf('alone', fork(0, 7), 'other'),
    leaf('twig', fork(1, 9)),
  ]
  expect(drawn(treeRows(leaves))).toEqual(['0main', '1early', ['1x', '2twig', '1y'], '1alone'])
})

test('separateValueSamples takes the samples of value estimates out of every row, also of branches that were sampled together', () => {
  const estimate = (key: string, from: number): TreeLeaf => ({ ...leaf(key, fork(from, 9), 'v'), isValueSample: true })
  const leaves = [
    leaf('main', null),
    leaf('x', fork(0, 7), 'g'),
    leaf('y', fork(0, 7), 'g'),
    estimate('v1', 1),
    estimate('v2', 1),
    estimate('w', 0),
  ]
  const { branches, samples } = separateValueSamples(treeRows(leaves))
  expect([drawn(branches), drawn(samples)]).toEqual([
    ['0main', ['1x', '1y']],
    [['2v1', '2v2'], '1w'],
  ])
})

test('matchingRows keeps the trajectories whose texts contain every word, and the samples of one request with them', () => {
  const leaves = [
    leaf('main', null),
    leaf('x find', fork(0, 7), 'g'),
    leaf('y ls', fork(0, 7), 'g'),
    leaf('Find twig', fork(1, 9)),
  ]
  const found = (search: string) => drawn(matchingRows(treeRows(leaves), search, ({ row }) => row.key))
  expect(found('')).toEqual(drawn(treeRows(leaves)))
  expect(found('find')).toEqual([['1x find', '2Find twig']])
  expect(found(' TWIG  find')).toEqual([['2Find twig']])
  expect(found('main')).toEqual(['0main'])
  expect(found('absent')).toEqual([])
})

test('foundPiece returns a text from a little before the search or its longest found word on, and nothing without one', () => {
  expect(foundPiece('The answer is 13.', 'ANSWER absent')).toBe('The answer is 13.')
  expect(foundPiece('I count the files: there are 13 files.', '13 there')).toBe('… the files: there are 13 files.')
  expect(foundPiece('To compute 2 * 3, I multiply. 2 * 3 = 6.', ' 2 * 3 = ')).toBe('…I multiply. 2 * 3 = 6.')
  // The cut does not split a surrogate pair.
  expect(foundPiece('a 😀234567890 13', '13')).toBe('…😀234567890 13')
  expect(foundPiece('The answer is 13.', 'absent')).toBe(undefined)
  expect(foundPiece('The answer is 13.', ' ')).toBe(undefined)
})

test('differentPieces returns each text from the word on in which it differs from the most similar one', () => {
  expect(
    differentPieces(['Let me list the files.', 'Let me count the files.', 'I use find.', 'Let me', 'I use find.']),
  ).toEqual(['…list the files.', '…count the files.', 'I use find.', '…me', 'I use find.'])
  expect(differentPieces(['only'])).toEqual(['only'])
})

test('sharedWithMain returns the fewest tokens that any fork between a trajectory and the first one keeps', () => {
  const leaves = [leaf('main', null), leaf('a', fork(0, 9)), leaf('b', fork(1, 12)), leaf('c', fork(1, 4))]
  expect(['main', 'a', 'b', 'c', 'absent'].map((key) => sharedWithMain(leaves, key))).toEqual([
    undefined,
    9,
    9,
    4,
    undefined,
  ])
  expect(sharedWithMain([leaf('main', null), leaf('lost', fork(null, 3))], 'lost')).toBeUndefined()
  expect(sharedWithMain([leaf('main', null), leaf('a', fork(2, 3)), leaf('b', fork(1, 3))], 'a')).toBeUndefined()
})
