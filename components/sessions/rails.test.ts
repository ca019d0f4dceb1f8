import fc from 'fast-check'
import { expect, test } from 'vitest'
import { placeOnRails, railsByRow } from './rails.ts'

const rails = (...parents: readonly (number | undefined)[]) => placeOnRails(parents).map(({ rail }) => rail)

test('A path stays on its rail, and each fork begins another one', () => {
  expect(rails(undefined, 0, 1)).toEqual([0, 0, 0])
  expect(rails(undefined, 0, 1, 1, 3)).toEqual([0, 0, 0, 1, 1])
})

test('A rail that has ended is used again by a later root, and not beside a fork that passes it', () => {
  expect(rails(undefined, 0, undefined, 2)).toEqual([0, 0, 0, 0])
  expect(rails(undefined, undefined, 0)).toEqual([0, 1, 0])
  expect(rails(undefined, undefined, 1, 0, 2)).toEqual([0, 1, 1, 0, 1])
})

test('Each row has the rails that begin, pass or end in it', () => {
  expect(railsByRow(placeOnRails([undefined, 0, undefined, 1, 0]))).toEqual([[1, 4], [1, 3, 4], [3, 4], [3, 4], [4]])
})

test('No two paths of a random forest share a rail in a row', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 40 }), (draws) => {
      const parents = draws.map((draw, row) => (draw % (row + 1) === row ? undefined : draw % (row + 1)))
      const places = placeOnRails(parents)
      const taken = new Map<string, number>()
      for (const [row, { rail, parent }] of places.entries())
        for (let at = parent === undefined ? row : parent + 1; at <= row; at++) {
          const key = `${at} ${rail}`
          expect(taken.get(key) ?? row).toBe(row)
          taken.set(key, row)
        }
    }),
  )
})
