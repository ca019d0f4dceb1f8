/** Tests columns that a program adds to a stored trajectory. */

import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { problemOf } from '#testing/http-problem.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { testServices } from '#testing/services.ts'
import type { Services } from '../services.ts'
import { changeColumns, columnsChangeSchema } from './columns.ts'

let all: Services
let key: string
beforeEach(() => {
  all = testServices(folderOfTest(), { describe: async () => ({}), template: () => '' })
  key = all.store.add(sample)
})
afterEach(() => all.store.close())

const change = (columns: unknown) => changeColumns(key, columnsChangeSchema.parse({ columns }), all)
const stored = (): Trajectory => {
  const found = all.store.get(key)
  if (!found) throw new Error('it was stored')
  return found
}
const columnsNow = () => stored().segments.map(({ columns }) => columns)

const refused = (columns: unknown) => problemOf(() => change(columns)) ?? expect.fail('the change was accepted')

test('Values for every token are split at the segments, and the meaning is stored', () => {
  const values = Array.from({ length: 12 }, (_, index) => 0 - index)
  const meaning = { quantity: 'logprob', model: 'trainer', values: 'raw', engine: 'fsdp' }
  expect(change({ trainerLogprobs: { values, ids: [1, 3, 2, 9, 5, 6, 10, 2, 8, 7, 3, 4], meaning } })).toEqual({
    tokens: 12,
    columns: [{ name: 'trainerLogprobs', known: 12 }],
  })
  expect(columnsNow().map((columns) => columns?.trainerLogprobs)).toEqual([
    [0, -1, -2],
    [-3, -4, -5, -6, -7],
    [-8, -9],
    [-10, -11],
  ])
  expect(columnsNow()[3]?.entropy).toEqual([0.5, null])
  expect(stored().columnMeanings).toEqual({ trainerLogprobs: meaning })
})

test('Values from a start and pairs change only their tokens, and other segments get no column', () => {
  change({ advantage: { values: [1, null], start: 7, ids: [2, 8] } })
  expect(columnsNow().map((columns) => columns?.advantage)).toEqual([
    undefined,
    [null, null, null, null, 1],
    [null, null],
    undefined,
  ])
  expect(change({ advantage: { pairs: [[3, 5]], ids: [9] } }).columns).toEqual([{ name: 'advantage', known: 2 }])
  expect(columnsNow()[1]?.advantage).toEqual([5, null, null, null, 1])
})

test('A column may be named like a member of every object', () => {
  change({ value: { values: [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] } })
  expect(change({ constructor: { values: [1], start: 3 } }).columns).toEqual([{ name: 'constructor', known: 1 }])
  change({ constructor: null })
  expect(columnsNow().some((columns) => columns && Object.hasOwn(columns, 'constructor'))).toBe(false)
})

test('A column that is null is removed with its meaning, and others stay', () => {
  change({ value: { values: [1], meaning: { quantity: 'value' } } })
  change({ value: null, entropy: null })
  expect(columnsNow()).toEqual([undefined, undefined, undefined, undefined])
  expect(stored().columnMeanings).toBeUndefined()
  change({ a: { values: [1], meaning: { quantity: 'other' } }, b: { values: [2], meaning: { quantity: 'other' } } })
  change({ a: null })
  expect(columnsNow()[0]).toEqual({ b: [2, null, null] })
  expect(stored().columnMeanings).toEqual({ b: { quantity: 'other' } })
})

test('A change refuses other lengths and ids with the first difference, and stores nothing', () => {
  const values = Array.from({ length: 13 }, () => 0)
  expect(refused({ x: { values } }).detail).toBe(
    'the column "x" does not fit: the trajectory has 12 tokens, and entry 12 is for token 12',
  )
  expect(refused({ x: { values: [1, 2], start: 11 } }).detail).toContain('entry 1 is for token 12')
  expect(refused({ x: { values: [1, 2], ids: [1] } }).detail).toContain('there are 2 values and 1 ids')
  const other = refused({ good: { values: [1] }, x: { values: [1, 2, 3], ids: [1, 4, 9] } })
  expect(other).toMatchObject({ status: 422, code: 'OTHER_IDS', field: 'columns.x' })
  expect(other.detail).toContain('token 1 has the id 3, not 4')
  expect(
    refused({
      x: {
        pairs: [
          [2, 1],
          [2, 3],
        ],
      },
    }).detail,
  ).toContain('several')
  expect(stored()).toEqual(sample)
})

test('The sampled logprobs cannot be replaced, but their meaning can be said', () => {
  expect(refused({ logprobs: { values: [0] } }).hint).toContain('trainerLogprobs')
  change({ logprobs: { meaning: { quantity: 'logprob', values: 'raw' } } })
  expect(stored().columnMeanings).toEqual({ logprobs: { quantity: 'logprob', values: 'raw' } })
  expect(stored().segments).toEqual(sample.segments)
})

test('A change of a running or missing trajectory is refused, and a change counts as a revision', () => {
  const revision = all.store.revision(key) ?? Number.NaN
  change({ x: { values: [1] } })
  expect(all.store.revision(key)).toBe(revision + 1)
  key = all.store.add({ ...sample, id: 'other', outcome: { kind: 'running' } }, { runsHere: true })
  expect(refused({ x: { values: [1] } })).toMatchObject({ status: 409, code: 'RUNNING' })
  key = 'none'
  expect(refused({ x: { values: [1] } }).status).toBe(404)
  expect(all.store.revision(key)).toBeUndefined()
})

test('The schema of a change refuses values with pairs, and a column without both and without a meaning', () => {
  const message = (columns: unknown) => columnsChangeSchema.safeParse({ columns }).error?.issues[0]?.message
  expect(message({ x: { values: [1], pairs: [] } })).toBe('either "values" or "pairs"')
  expect(message({ x: {} })).toBe('"values", "pairs" or "meaning"')
  expect(message({})).toBe('at least one column')
})
