/** Tests the packed copies of long records. */
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { unpack } from '#lib/trajectory/tokens/packed.ts'
import { packedAnswer, readPackedAnswer } from '#lib/trajectory/tokens/packed-bytes.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { openPackedWriter, type PackedWriter } from './packed.ts'
import { openTrajectoryReader, type TrajectoryReader } from './record.ts'
import { openTrajectoryStore, type TrajectoryStore } from './trajectories.ts'

let folder: string
let store: TrajectoryStore
let reader: TrajectoryReader
let writer: PackedWriter
beforeEach(() => {
  folder = folderOfTest()
  store = openTrajectoryStore(folder, { now: () => new Date() })
  reader = openTrajectoryReader(folder)
  writer = openPackedWriter(folder)
})
afterEach(() => {
  writer.close()
  reader.close()
  store.close()
})

const long: Trajectory = {
  ...sample,
  segments: [...sample.segments, { kind: 'prompt', ids: Array(10_000).fill(sample.segments[0]?.ids[0]), messages: [] }],
}
const pack = (key: string) => {
  const stored = reader.read(key)
  if (typeof stored?.found === 'object') writer.write(key, stored.of, stored.found)
}
const packed = (key: string) => {
  const copy = store.packed(key)
  const read = copy && readPackedAnswer(packedAnswer(copy.labels, copy.bytes).buffer)
  return read && unpack(read.trajectory)
}
const change = (sql: string, ...values: readonly string[]) => {
  const database = new DatabaseSync(path.join(folder, 'rollscope.db'))
  const { changes } = database.prepare(sql).run(...values)
  database.close()
  return changes
}

test('a long record has an equal packed copy with its present labels', () => {
  const key = store.add({ ...long, title: 'before' })
  expect(packed(key)).toBeUndefined()
  pack(key)
  pack(key)
  store.label(key, { title: 'after', tags: ['a'] })
  expect(packed(key)).toEqual({ ...long, title: 'after', tags: ['a'] })
})

test('a short record has no packed copy', () => {
  const key = store.add(sample)
  pack(key)
  expect(packed(key)).toBeUndefined()
})

test('a copy of an earlier revision is neither read nor written', () => {
  const key = store.add(long)
  const before = reader.read(key)
  pack(key)
  const later = { ...long, outcome: { kind: 'ended', reason: 'cancelled' } as const }
  store.update(key, later, long.segments.length)
  expect(packed(key)).toBeUndefined()
  if (before) writer.write(key, before.of, long)
  expect(packed(key)).toBeUndefined()
  pack(key)
  expect(packed(key)).toEqual(later)
})

test.each([
  ['of another version', 'UPDATE packed SET version = version + 1'],
  ['with other bytes than its checksum', "UPDATE packed SET bytes = CAST(x'00' || substr(bytes, 2) AS BLOB)"],
  ['that is truncated', 'UPDATE packed SET bytes = substr(bytes, 1, 100)'],
])('a copy %s is not read, the record is, and the copy is written again', (_, damage) => {
  const key = store.add(long)
  pack(key)
  expect(change(damage)).toBe(1)
  expect(packed(key)).toBeUndefined()
  expect(store.get(key)).toEqual(long)
  pack(key)
  expect(packed(key)).toEqual(long)
})

test('a running or deleted record has no packed copy', () => {
  const running = store.add({ ...long, outcome: { kind: 'running' } }, { runsHere: true })
  pack(running)
  expect(packed(running)).toBeUndefined()
  store.update(running, long, 0)
  pack(running)
  store.remove(running)
  expect(packed(running)).toBeUndefined()
  store.restore(running)
  expect(packed(running)).toEqual(long)
})

test('a copy is deleted with its record', () => {
  const key = store.add(long)
  pack(key)
  store.close()
  change('DELETE FROM trajectories WHERE key = ?', key)
  expect(change('DELETE FROM packed')).toBe(0)
  store = openTrajectoryStore(folder, { now: () => new Date() })
})
