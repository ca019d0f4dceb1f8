/** Value estimates in the store, and the instances that run them. */
import { beforeEach, expect, test } from 'vitest'
import { folderOfTest } from '#testing/files/folders.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { openTrajectoryStore } from './trajectories.ts'

let folder: string
beforeEach(() => {
  folder = folderOfTest()
})

const open = () => openTrajectoryStore(folder, { now: () => new Date() })
const plan = '{"n":8}'
const rowOf = (id: string, key: string) => ({ id, key, createdAt: '2026-01-01T00:00:00.000Z', plan })

test('The store returns the latest estimates of a trajectory, and how each ended', () => {
  const store = open()
  const key = store.add(sampleTrajectory)
  for (const id of ['a', 'b', 'c']) store.addEstimate(rowOf(id, key))
  store.endEstimate('a', 'failed', { code: 'GONE', message: 'the server is gone' })
  store.endEstimate('b', 'done')
  expect(store.estimate('a')).toEqual({
    ...rowOf('a', key),
    state: 'failed',
    failure: { code: 'GONE', message: 'the server is gone' },
  })
  expect(store.estimatesOf(key, 2).map(({ id, state }) => [id, state])).toEqual([
    ['c', 'running'],
    ['b', 'done'],
  ])
  expect(store.estimatesOf(key).map(({ id }) => id)).toEqual(['c', 'b', 'a'])
  expect(store.estimate('absent')).toBe(undefined)
  store.close()
})

test('An estimate belongs to one living instance, and another one can claim it afterwards', () => {
  const [first, second] = [open(), open()]
  const key = first.add(sampleTrajectory)
  first.addEstimate(rowOf('a', key))
  first.addEstimate(rowOf('done', key))
  first.endEstimate('done', 'done')
  expect(second.abandonedEstimates()).toEqual([])
  expect(second.claimEstimate('a')).toBe(false)
  expect(first.claimEstimate('a')).toBe(true)
  first.close()
  expect(second.abandonedEstimates().map(({ id }) => id)).toEqual(['a'])
  expect(second.claimEstimate('a')).toBe(true)
  expect(second.abandonedEstimates()).toEqual([])
  second.endEstimate('a', 'cancelled')
  expect(second.claimEstimate('a')).toBe(true)
  expect(second.estimate('a')).toMatchObject({ state: 'running', failure: null })
  expect(second.claimEstimate('absent')).toBe(false)
  second.close()
})

test('An estimate is not listed while its trajectory is deleted, and removed when that is purged', () => {
  let now = new Date('2026-01-01')
  const store = openTrajectoryStore(folder, { now: () => now })
  const key = store.add(sampleTrajectory)
  store.addEstimate(rowOf('a', key))
  store.endEstimate('a', 'done')
  store.remove(key)
  expect(store.estimatesOf(key)).toEqual([])
  expect(store.estimate('a')).toMatchObject({ id: 'a', key })
  store.restore(key)
  expect(store.estimate('a')).toMatchObject({ id: 'a' })
  store.remove(key)
  store.close()
  now = new Date('2026-01-03')
  const later = openTrajectoryStore(folder, { now: () => now })
  later.restore(key)
  expect(later.estimate('a')).toBe(undefined)
  later.close()
})
