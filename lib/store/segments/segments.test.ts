/** Tests segments with so many tokens that their lists are stored in parts. */
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { openTrajectoryStore, type TrajectoryStore } from '../trajectories.ts'
import { PART } from './segments.ts'

let folder: string
let store: TrajectoryStore
let database: DatabaseSync
beforeEach(() => {
  folder = folderOfTest()
  store = openTrajectoryStore(folder, { now: () => new Date() })
  database = new DatabaseSync(path.join(folder, 'rollscope.db'))
})
afterEach(() => {
  database.close()
  store.close()
})

const TOKENS = PART + 2
const count = (table: string) => database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n
const longest = (table: string, column: string) =>
  Number(database.prepare(`SELECT max(length(${column})) AS n FROM ${table}`).get()?.n)

const entries = <T>(entry: (index: number) => T, length = TOKENS): readonly T[] =>
  Array.from({ length }, (_, index) => entry(index))

/** Returns a segment that has each list of the format with more entries than a part. */
const longSegment = (): Segment => ({
  kind: 'response',
  ids: entries((index) => index % 1000),
  logprobs: entries((index) => (index % 7 === 0 ? null : -index / 997)),
  mask: entries((index) => (index % 3 === 0 ? 0 : 1)),
  topLogprobs: { k: 2, ids: entries((index) => index % 9, 2 * TOKENS), logprobs: entries(() => -0.5, 2 * TOKENS) },
  columns: { 'a "name".[0]': entries((index) => index), entropy: entries(() => null) },
  thinks: [{ start: 0, end: 2, closed: true }],
  toolCalls: [],
  ...{ notes: { texts: entries((index) => `${index}`), few: [1, 2] } },
})
const { tokenizer: _, ...model } = sample.model
const long = (segments: readonly Segment[] = [longSegment()]): Trajectory => ({
  ...sample,
  id: 'long',
  model,
  segments,
})

test('A segment with more tokens than a part is stored in short texts, and read unchanged', () => {
  expect(isDeepStrictEqual(store.get(store.add(long())), long())).toBe(true)
  // The texts of `notes` are no numbers, so they stay in the segment.
  expect(longest('segments', 'segment')).toBeLessThan(10 * TOKENS)
  expect(longest('shared_texts', 'text')).toBeLessThan(25 * PART)
  // A part has the entries of the same tokens, whether a list has one for each token or more.
  expect(count('segment_lists')).toBe(7 * 2)
  expect(store.add(long())).toBe('long')
})

test('A segment with at most as many tokens as a part is one text', () => {
  const ids = entries((index) => index, PART)
  const short = long([{ kind: 'prompt', ids, messages: [] }])
  expect(isDeepStrictEqual(store.get(store.add(short)), short)).toBe(true)
  expect(count('segment_lists')).toBe(0)
})

test('Parts of a segment are replaced with it, and deleted with its trajectory', () => {
  const key = store.add({ ...long(), outcome: { kind: 'running' } }, { runsHere: true })
  const shorter = long([{ kind: 'prompt', ids: entries((index) => index, PART + 1), messages: [] }, ...sample.segments])
  store.update(key, shorter, 0)
  expect(isDeepStrictEqual(store.get(key), shorter)).toBe(true)
  expect(count('segment_lists')).toBe(2)
  store.update(key, { ...shorter, segments: [] }, 0)
  expect(count('segment_lists')).toBe(0)
  store.update(key, long(), 0)
  database.exec('PRAGMA foreign_keys = ON; DELETE FROM trajectories')
  expect(count('segment_lists')).toBe(0)
})

test.each([
  [
    'a lost part',
    'DELETE FROM segment_lists WHERE part = 1',
    /columns\["a \\"name\\"\.\[0\]"\] has 2048 of its 2050 entries/,
  ],
  ['a lost list', `DELETE FROM segment_lists WHERE path = '["ids"]'`, /segments\[0\].ids: expected .*found 2050/],
  [
    'a wrong entry',
    `UPDATE segment_lists SET entries = '["x",1]' WHERE path = '["ids"]' AND part = 1`,
    /segments\[0\].ids\[2048\]: expected a number, found "x"/,
  ],
  ['a text that is not JSON', `UPDATE segment_lists SET entries = '[1', shared = NULL`, /is damaged: .*JSON/],
  [
    'an unknown list',
    `UPDATE segment_lists SET path = '["lost","list"]' WHERE path = '["mask"]'`,
    /the segment has no list lost.list/,
  ],
  ['a list of another segment', 'UPDATE segment_lists SET position = 1', /the segment has no list columns/],
])('%s is reported as damage of the trajectory', (_, damage, problem) => {
  store.add(long())
  database.exec(`PRAGMA foreign_keys = OFF; ${damage}`)
  expect(() => store.get('long')).toThrow(problem)
})
