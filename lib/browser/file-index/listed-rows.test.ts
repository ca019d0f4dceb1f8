import { expect, test } from 'vitest'
import { listedRows, NOT_READ, outcomeCounts, type RowFilter } from './listed-rows.ts'
import type { FilePosition, FileSampleRow, ListedSample } from './sample-row.ts'

const place = (index: number): FilePosition => ({
  start: index,
  end: index + 1,
  line: index + 1,
  item: undefined,
  within: 0,
})
const row = (index: number, sample: Partial<ListedSample>): FileSampleRow => ({
  ...place(index),
  ok: true,
  id: `id-${index}`,
  title: null,
  question: '',
  reward: null,
  group: null,
  outcomeKind: 'ended',
  outcome: 'end_turn',
  turns: 1,
  tokens: 0,
  trained: 0,
  ...sample,
})
const ROWS: readonly FileSampleRow[] = [
  row(0, { question: 'What is 2+2?', reward: 0.5, tokens: 10 }),
  row(1, { title: 'Beta', reward: null, tokens: 30, outcome: 'length' }),
  { ...place(2), ok: false, message: 'line 3: expected JSON', hint: '' },
  row(3, { title: 'alpha', reward: 1, tokens: 20, group: 'G7' }),
  row(4, { question: 'What is 3+3?', reward: 0.5, tokens: 20 }),
]
const listed = (change: Partial<RowFilter>) =>
  listedRows(ROWS, { q: '', outcome: '', sort: { by: 'place', order: 'asc' }, ...change })

test.each([
  ['everything', '', [0, 1, 2, 3, 4]],
  ['a question', 'what IS ', [0, 4]],
  ['a title', 'beta', [1]],
  ['an id', 'id-3', [3]],
  ['a group', 'g7', [3]],
  ['a place', 'line 5', [4]],
  ['an error', 'expected json', [2]],
])('The filter finds %s', (_what, q, found) => {
  expect(listed({ q })).toEqual(found)
})

test('The outcome filter lists an outcome, or the records that could not be read', () => {
  expect([listed({ outcome: 'length' }), listed({ outcome: NOT_READ })]).toEqual([[1], [2]])
  expect(outcomeCounts(ROWS)).toEqual([
    ['end_turn', 3],
    ['length', 1],
    [NOT_READ, 1],
  ])
})

test('Rows are sorted by a column; unknown values are last in both directions, and equal ones keep the order of the file', () => {
  expect(listed({ sort: { by: 'reward', order: 'desc' } })).toEqual([3, 0, 4, 1, 2])
  expect(listed({ sort: { by: 'reward', order: 'asc' } })).toEqual([0, 4, 3, 1, 2])
  expect(listed({ sort: { by: 'tokens', order: 'desc' } })).toEqual([1, 3, 4, 0, 2])
  expect(listed({ sort: { by: 'title', order: 'asc' } })).toEqual([1, 0, 4, 3, 2])
  expect(listed({ sort: { by: 'place', order: 'desc' } })).toEqual([4, 3, 2, 1, 0])
})
