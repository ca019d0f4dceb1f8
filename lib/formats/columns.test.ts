import { describe, expect, test } from 'vitest'
import { contradiction, segmentOf } from './columns.ts'

describe('Columns that a file contains several times', () => {
  test('agree if their entries mean the same number, whether as number, text or boolean', () => {
    expect(
      contradiction([
        ['a', [0, 1, null, Number.NaN]],
        ['b', [-0, true, null, 'NaN']],
        ['c', undefined],
        ['d', [false, '1', null, 'NaN']],
      ]),
    ).toBeUndefined()
  })

  test('contradict each other if one has null where the other has zero', () => {
    expect(
      contradiction([
        ['a', [1, null]],
        ['b', [1, 0]],
      ]),
    ).toEqual({ path: 'b[1]', expected: 'null, as in a', found: '0' })
  })

  test('contradict each other if one is longer', () => {
    expect(
      contradiction([
        ['a', [1]],
        ['b', [1, 2]],
      ]),
    ).toEqual({ path: 'b[1]', expected: 'nothing, as in a', found: '2' })
  })
})

test('Further numbers become columns of a segment: unknown ones are null, and one without a known number is omitted', () => {
  const range = { isOutput: true, start: 1, end: 3 }
  const numbers = { entropy: ['NaN', 0.5], advantage: [null, null], value: [-0, Number.POSITIVE_INFINITY] }
  const segment = segmentOf(range, { ids: [1, 2, 3], mask: undefined, logprobs: undefined, promptLength: 1, numbers })
  expect(segment.columns).toEqual({ entropy: [null, 0.5], value: [0, null] })
  expect(segment.problems).toMatchObject([
    { kind: 'number', column: 'entropy', index: 0, raw: 'NaN' },
    { kind: 'number', column: 'value', index: 1, raw: 'Infinity' },
  ])
})
