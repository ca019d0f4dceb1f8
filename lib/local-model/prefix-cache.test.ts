import { Tensor } from 'onnxruntime-node'
import { describe, expect, test } from 'vitest'
import type { KeyValues } from './onnx-model.ts'
import { createPrefixCache } from './prefix-cache.ts'

const HEADS = 2
const SIZE = 3
const BYTES_PER_POSITION = 4 * HEADS * SIZE

/** Keys of which each entry says its head, its position's id and its place in the row. */
function keysOf(ids: readonly number[]): KeyValues {
  const values = Array.from({ length: HEADS }, (_, head) =>
    ids.flatMap((id) => Array.from({ length: SIZE }, (_, place) => head * 1000 + id * 10 + place)),
  )
  const data = Float32Array.from(values.flat())
  return { length: ids.length, tensors: [new Tensor('float32', data, [1, HEADS, ids.length, SIZE])] }
}

const cacheOf = (positions: number) => createPrefixCache(keysOf([]), positions * BYTES_PER_POSITION)
const contents = ({ tensors }: KeyValues) =>
  tensors.map(({ data, dims }) => ({ data: [...(data as Float32Array)], dims }))

describe('a known beginning', () => {
  test('is found as far as it goes, with the keys of just these positions', () => {
    const cache = cacheOf(100)
    cache.keep([1, 2, 3, 4], keysOf([1, 2, 3, 4]))
    cache.keep([1, 2, 9], keysOf([1, 2, 9]))
    const found = cache.find([1, 2, 3, 7, 8], 10)
    expect(found.length).toBe(3)
    expect(contents(found)).toEqual(contents(keysOf([1, 2, 3])))
  })

  test('is not used beyond the limit', () => {
    const cache = cacheOf(100)
    cache.keep([1, 2, 3, 4], keysOf([1, 2, 3, 4]))
    expect(contents(cache.find([1, 2, 3, 4], 2))).toEqual(contents(keysOf([1, 2])))
    expect(cache.find([1, 2, 3, 4], 0).length).toBe(0)
    expect(cache.find([2, 3], 2).length).toBe(0)
  })

  test('that is all of what is kept is not copied', () => {
    const cache = cacheOf(100)
    const keys = keysOf([1, 2])
    cache.keep([1, 2, 3], keys)
    expect(cache.find([1, 2, 3], 3)).toBe(keys)
  })
})

describe('when there is no room', () => {
  test('what was used longest ago goes first', () => {
    const cache = cacheOf(6)
    cache.keep([1, 1], keysOf([1, 1]))
    cache.keep([2, 2], keysOf([2, 2]))
    cache.keep([3, 3], keysOf([3, 3]))
    cache.find([1], 1)
    cache.keep([4, 4], keysOf([4, 4]))
    expect([1, 2, 3, 4].map((id) => cache.find([id, id], 2).length)).toEqual([2, 0, 2, 2])
  })

  test('for one alone, it is not kept and nothing goes for it', () => {
    const cache = cacheOf(2)
    cache.keep([1, 1], keysOf([1, 1]))
    cache.keep([2, 2, 2], keysOf([2, 2, 2]))
    expect([cache.find([1, 1], 2).length, cache.find([2, 2], 2).length]).toEqual([2, 0])
  })
})

test('a longer sequence takes the place of its beginning, a beginning takes none', () => {
  const cache = cacheOf(5)
  cache.keep([7, 8], keysOf([7, 8]))
  cache.keep([7, 8, 9], keysOf([7, 8, 9]))
  cache.keep([1, 2], keysOf([1, 2]))
  cache.keep([7], keysOf([7]))
  expect([cache.find([7, 8, 9], 3).length, cache.find([1, 2], 2).length]).toEqual([3, 2])
  cache.clear()
  expect(cache.find([7, 8, 9], 3).length).toBe(0)
})
