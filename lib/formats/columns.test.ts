import { describe, expect, test } from 'vitest'
import { contradiction } from './columns'

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
