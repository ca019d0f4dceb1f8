import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { KeyValues, RowPositions } from '#lib/builtin-server/models/key-values.ts'
import { createPrefixCache, runBytes } from './prefix-cache.ts'

const HEADS = 2
const SIZE = 3
/** Bytes of a position: its keys, and its id. */
const BYTES_PER_POSITION = 4 * HEADS * SIZE + 4
const BYTES_PER_RUN = runBytes(1)

/** Returns keys whose entries encode their head, the id and the index of their position, and their place in the row. */
function keysOf(ids: readonly number[]): KeyValues {
  const values = Array.from({ length: HEADS }, (_, head) =>
    ids.flatMap((id, at) => Array.from({ length: SIZE }, (_, place) => head * 100_000 + at * 1000 + id * 10 + place)),
  )
  const data = Float32Array.from(values.flat())
  return { rows: 1, length: ids.length, tensors: [{ data: data, dims: [1, HEADS, ids.length, SIZE] }] }
}

const rowOf = (ids: readonly number[]): RowPositions => ({ keyValues: keysOf(ids), row: 0, length: ids.length })
const bytesOf = (positions: number, runs: number): number => positions * BYTES_PER_POSITION + runs * BYTES_PER_RUN
const cacheOf = (positions: number, runs: number) => createPrefixCache(keysOf([]), bytesOf(positions, runs))
const contents = ({ length, tensors }: KeyValues) =>
  tensors.map(({ data, dims }) => ({ length, data: [...(data as Float32Array)], dims }))

const common = (a: readonly number[], b: readonly number[]): number => {
  const end = a.findIndex((id, index) => id !== b[index])
  return end < 0 ? a.length : end
}
/** There are only a few ids, so that many sequences begin alike. */
const sequences = fc.array(fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 10 }), {
  minLength: 1,
  maxLength: 12,
})

test('The prefix cache finds the longest known beginning with its own keys', () => {
  fc.assert(
    fc.property(
      sequences,
      fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 12 }),
      fc.nat(12),
      (all, ids, limit) => {
        const cache = cacheOf(1000, 1000)
        for (const kept of all) cache.keep(kept, rowOf(kept))
        const longest = Math.min(limit, ids.length, Math.max(...all.map((kept) => common(kept, ids))))
        expect(contents(cache.find(ids, limit))).toEqual(contents(keysOf(ids.slice(0, longest))))
      },
    ),
  )
})

test('The prefix cache stores a common beginning once, and never exceeds its limit', () => {
  fc.assert(
    fc.property(sequences, fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 15 }), (all, room, runs) => {
      const cache = cacheOf(room, runs)
      for (const ids of all) {
        cache.keep(ids, rowOf(ids))
        expect(cache.bytes()).toBeLessThanOrEqual(bytesOf(room, runs))
        // The last sequence is there if it fits at all, even with each of its ids as a run.
        if (ids.length <= Math.min(room, runs)) expect(cache.find(ids, 20).length).toBe(ids.length)
      }
      const roomy = cacheOf(1000, 1000)
      for (const ids of all) roomy.keep(ids, rowOf(ids))
      const beginnings = new Set(all.flatMap((ids) => ids.map((_, index) => ids.slice(0, index + 1).join())))
      const held = (roomy.bytes() - bytesOf(beginnings.size, 0)) / BYTES_PER_RUN
      expect(held).toBe(Math.round(held))
      expect(held).toBeGreaterThan(0)
      expect(held).toBeLessThan(2 * all.length)
    }),
  )
})

test('The prefix cache stores a row of a batch without its padding', () => {
  const cache = cacheOf(100, 100)
  const [data] = contents(keysOf([0, 0, 7, 8])) as unknown as [{ data: number[] }]
  const batch = { data: Float32Array.from([...data.data.map(() => -1), ...data.data]), dims: [2, HEADS, 4, SIZE] }
  cache.keep([7, 8, 9], { keyValues: { rows: 2, length: 4, tensors: [batch] }, row: 1, length: 2 })
  const [found] = contents(cache.find([7, 8], 2)) as unknown as [{ data: number[] }]
  expect(found.data.map((value) => value % 1000)).toEqual([70, 71, 72, 80, 81, 82, 70, 71, 72, 80, 81, 82])
})

describe('A full prefix cache', () => {
  test('removes the least recently used sequence first', () => {
    const cache = cacheOf(6, 3)
    for (const id of [1, 2, 3]) cache.keep([id, id], rowOf([id, id]))
    cache.find([1], 1)
    cache.keep([4, 4], rowOf([4, 4]))
    expect([1, 2, 3, 4].map((id) => cache.find([id, id], 2).length)).toEqual([2, 0, 2, 2])
  })

  test('removes the ends of sequences before their common beginning', () => {
    const cache = cacheOf(5, 3)
    cache.keep([1, 1, 2, 2], rowOf([1, 1, 2, 2]))
    cache.keep([1, 1, 3, 3], rowOf([1, 1, 3, 3]))
    expect([cache.find([1, 1, 2, 2], 4).length, cache.find([1, 1, 3, 3], 4).length]).toEqual([2, 4])
  })

  test('keeps the age of the rest of a run that was split', () => {
    const cache = cacheOf(7, 4)
    cache.keep([1, 1, 2], rowOf([1, 1, 2]))
    cache.keep([4, 4], rowOf([4, 4]))
    cache.keep([1, 1, 3], rowOf([1, 1, 3]))
    cache.keep([5], rowOf([5]))
    expect([[1, 1, 2], [4, 4], [1, 1, 3], [5]].map((ids) => cache.find(ids, 3).length)).toEqual([2, 2, 3, 1])
  })

  test('removes many short ends in the order of their arrival, whatever is searched for', () => {
    const ends = 300
    const cache = cacheOf(ends, ends)
    for (let id = 0; id < ends; id++) cache.keep([id], rowOf([id]))
    cache.find([0], 1)
    const long = Array.from({ length: ends / 2 }, (_, index) => 1000 + index)
    cache.keep(long, rowOf(long))
    const left = Array.from({ length: ends }, (_, id) => id).filter((id) => cache.find([id], 1).length === 1)
    expect(left[0]).toBe(0)
    expect(left.slice(1)).toEqual(Array.from({ length: left.length - 1 }, (_, index) => ends - left.length + 1 + index))
    expect(cache.find(long, ends).length).toBe(long.length)
  })

  test('stores no sequence that exceeds the whole limit, and removes nothing for it', () => {
    const cache = cacheOf(2, 1)
    cache.keep([1, 1], rowOf([1, 1]))
    cache.keep([2, 2, 2], rowOf([2, 2, 2]))
    expect([cache.find([1, 1], 2).length, cache.find([2, 2], 2).length]).toEqual([2, 0])
  })
})

test('The prefix cache finds nothing after it was cleared', () => {
  const cache = cacheOf(5, 1)
  cache.keep([7, 8], rowOf([7, 8]))
  cache.clear()
  expect([cache.find([7, 8], 2).length, cache.bytes()]).toEqual([0, 0])
})
