/** Tests the stored health results of trajectories, which are valid until the trajectory changes. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Health, healthSummary } from '#lib/trajectory/health/health.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { HealthFilter, RecordRevision } from './health.ts'
import { openTrajectoryReader, type TrajectoryReader } from './record.ts'
import { openTrajectoryStore, type TrajectoryStore } from './trajectories.ts'

let folder: string
let store: TrajectoryStore
let reader: TrajectoryReader
beforeEach(() => {
  folder = folderOfTest()
  store = openTrajectoryStore(folder, { now: () => new Date() })
  reader = openTrajectoryReader(folder)
})
afterEach(() => {
  reader.close()
  store.close()
})

const good: Health = { findings: [], checks: [{ name: 'endings', unknown: 'why' }] }
const finding = { label: 'l', message: 'm', count: 1, places: [] } as const
const bad: Health = { ...good, findings: [{ kind: 'mask', severity: 'error', ...finding }] }
const drifting: Health = { ...good, findings: [{ kind: 'drift', severity: 'note', ...finding }] }

const revisionOf = (key: string): RecordRevision => reader.read(key)?.of as RecordRevision
const check = (key: string, health: Health) => store.putHealth(key, revisionOf(key), health)
const gistIn = (key: string) => listed().find((row) => row.key === key)?.health
const listed = (health?: HealthFilter) =>
  store.list({ filter: health ? { health } : {}, sort: { by: 'added', order: 'desc' }, limit: 50 }).rows

test('uncheckedKey returns the newest trajectory first, and each once', () => {
  for (const id of ['a', 'b']) store.add({ ...sample, id })
  expect(store.uncheckedKey()).toBe('b')
  check('b', bad)
  expect([store.uncheckedKey(), store.health('b'), store.health('a')]).toEqual(['a', bad, undefined])
  check('a', good)
  expect([store.uncheckedKey(), gistIn('a'), gistIn('b')]).toEqual([undefined, healthSummary(good), healthSummary(bad)])
  expect(gistIn('a')?.unknown).toEqual(['endings: why'])
})

test('uncheckedKey continues with older trajectories after a key, also after one that is checked or deleted', () => {
  for (const id of ['a', 'b', 'c']) store.add({ ...sample, id })
  expect(['c', 'b', 'a'].map((key) => store.uncheckedKey(key))).toEqual(['b', 'a', undefined])
  check('c', good)
  store.remove('b')
  expect(['c', 'b'].map((key) => store.uncheckedKey(key))).toEqual(['a', 'a'])
})

test('a trajectory that changed is checked again and loses its earlier result', () => {
  const key = store.add(sample)
  const before = revisionOf(key)
  check(key, bad)
  store.label(key, { title: 'labels are no part of it' })
  expect(store.health(key)).toEqual(bad)
  store.update(key, { ...sample, outcome: { kind: 'ended', reason: 'end_turn' } }, sample.segments.length)
  expect([store.health(key), gistIn(key), store.uncheckedKey()]).toEqual([undefined, null, key])
  store.putHealth(key, before, bad)
  expect(store.health(key)).toBeUndefined()
})

test('a running or deleted trajectory is not checked', () => {
  const key = store.add({ ...sample, outcome: { kind: 'running' } }, { runsHere: true })
  expect(store.uncheckedKey()).toBeUndefined()
  check(key, good)
  expect(store.health(key)).toBeUndefined()
  store.update(key, sample, 0)
  expect(store.uncheckedKey()).toBe(key)
  check(key, good)
  store.remove(key)
  expect([store.uncheckedKey(), store.health(key)]).toEqual([undefined, undefined])
  store.restore(key)
  expect(store.health(key)).toEqual(good)
})

test('list filters by health', () => {
  for (const id of ['good', 'bad', 'drifting', 'new']) store.add({ ...sample, id })
  check('good', good)
  check('bad', bad)
  check('drifting', drifting)
  const keys = (filter: HealthFilter) => listed(filter).map(({ key }) => key)
  expect(keys('problems')).toEqual(['bad'])
  expect(keys('none')).toEqual(['drifting', 'good'])
  expect(keys('drift')).toEqual(['drifting'])
  expect(keys('unchecked')).toEqual(['new'])
})

test('a second connection reads the trajectory as it was stored', () => {
  expect(reader.read('none')).toBeUndefined()
  const key = store.add(sample)
  expect(reader.read(key)).toEqual({ of: { sequence: 1, revision: 0 }, found: sample })
})
