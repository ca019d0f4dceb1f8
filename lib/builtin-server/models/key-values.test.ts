import fc from 'fast-check'
import { expect, test } from 'vitest'
import { gatherRows, type KeyValues, positionsOf } from './key-values.ts'

const HEADS = 2
const SIZE = 2

/** For each batch, the lengths of its rows. */
const batches = fc.array(fc.array(fc.nat(5), { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 })

/** Returns keys that encode their batch, row, head and position; padding is -1. */
function batchOf(batch: number, lengths: readonly number[]): KeyValues {
  const length = Math.max(...lengths)
  const data = lengths.flatMap((own, row) =>
    Array.from({ length: HEADS }, (_, head) =>
      Array.from({ length }, (_, at) => {
        const position = at - (length - own)
        return Array(SIZE).fill(position < 0 ? -1 : batch * 1000 + row * 100 + head * 10 + position) as number[]
      }).flat(),
    ).flat(),
  )
  const tensor = { data: Float32Array.from(data), dims: [lengths.length, HEADS, length, SIZE] }
  return { rows: lengths.length, length, tensors: [tensor] }
}

test('Gathered rows of any batches are right-aligned with their own keys', () => {
  fc.assert(
    fc.property(batches, fc.array(fc.nat(), { minLength: 1, maxLength: 6 }), (all, picks) => {
      const rows = all.flatMap((lengths, batch) => {
        const keyValues = batchOf(batch, lengths)
        return lengths.map((length, row) => ({ keyValues, row, length, batch }))
      })
      const places = picks.map((pick) => rows[pick % rows.length] as (typeof rows)[0])
      const joined = gatherRows(places)
      expect([joined.rows, joined.length]).toEqual([places.length, Math.max(...places.map(({ length }) => length))])
      places.forEach(({ batch, row: from, length }, row) => {
        for (let head = 0; head < HEADS; head++) {
          const own = positionsOf(joined, 0, row, head).subarray((joined.length - length) * SIZE)
          const wanted = Array.from({ length }, (_, position) => batch * 1000 + from * 100 + head * 10 + position)
          expect([...own]).toEqual(wanted.flatMap((value) => Array(SIZE).fill(value)))
        }
      })
    }),
  )
})

test('Gathered rows that already are a batch are not copied', () => {
  const keyValues = batchOf(0, [3, 2])
  const places = [3, 2].map((length, row) => ({ keyValues, row, length }))
  expect(gatherRows(places)).toBe(keyValues)
  expect(gatherRows(places.toReversed())).not.toBe(keyValues)
  expect(gatherRows(places.slice(0, 1))).not.toBe(keyValues)
  // Without the longest row, padding would remain that no row needs.
  expect(gatherRows(places.slice(1)).length).toBe(2)
})
