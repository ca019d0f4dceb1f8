/** Tests databases of older versions, created as those versions did. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { beforeEach, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { statistics } from '#lib/trajectory/tokens/statistics.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { wrongUses } from '#testing/stored-forests.ts'
import { openInstance } from './files/instance.ts'
import { PART } from './segments/segments.ts'
import { StoreError } from './store-error.ts'
import { openTrajectoryStore } from './trajectories.ts'

let folder: string
beforeEach(() => {
  folder = folderOfTest()
})

const open = () => openTrajectoryStore(folder, { now: () => new Date('2026-05-01T00:00:00Z') })
const database = () => new DatabaseSync(path.join(folder, 'rollscope.db'))
const newest = { filter: {}, sort: { by: 'added', order: 'desc' }, limit: 50 } as const

function madeByVersion1(trajectories: readonly Trajectory[], runningIn: number | null = null): void {
  const old = database()
  old.exec(`
    PRAGMA journal_mode = WAL;
    CREATE TABLE trajectories (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      key TEXT NOT NULL UNIQUE,
      header TEXT NOT NULL,
      title TEXT NOT NULL,
      model TEXT,
      outcome TEXT NOT NULL,
      tokens INTEGER NOT NULL,
      trained INTEGER NOT NULL,
      running_in INTEGER
    ) STRICT;
    CREATE TABLE segments (
      key TEXT NOT NULL REFERENCES trajectories (key) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      segment TEXT NOT NULL,
      PRIMARY KEY (key, position)
    ) STRICT, WITHOUT ROWID;
    PRAGMA user_version = 1;
  `)
  old.exec('BEGIN')
  const insert = old.prepare('INSERT INTO trajectories VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?)')
  const insertSegment = old.prepare('INSERT INTO segments VALUES (?, ?, ?)')
  for (const { segments, ...header } of trajectories) {
    insert.run(header.id, JSON.stringify(header), header.title ?? 'hi', 'tiny', 'length', 8, 5, runningIn)
    for (const [position, segment] of segments.entries())
      insertSegment.run(header.id, position, JSON.stringify(segment))
  }
  old.exec('COMMIT')
  old.close()
}

const labelled: Trajectory = { ...sample, id: 'labelled', title: 'Mine', tags: ['a'], note: 'n', reward: null }

test('migrate upgrades version 1 with all trajectories unchanged and searchable', () => {
  madeByVersion1([sample, labelled])
  for (const store of [open(), open()]) {
    expect(store.get('sample')).toEqual(sample)
    expect(store.get('labelled')).toEqual(labelled)
    const { tokens, trained, meanLogprob } = statistics(sample)
    expect(store.list(newest).rows).toMatchObject([
      { key: 'labelled', title: 'Mine', tags: ['a'], note: 'n', reward: null, addedAt: sample.createdAt },
      { key: 'sample', title: null, question: 'hi', tokens, trained, meanLogprob, toolCalls: 2, outcome: 'length' },
    ])
    expect(store.list({ ...newest, filter: { text: 'mine tiny' } }).rows.map(({ key }) => key)).toEqual(['labelled'])
    expect(store.choices()).toMatchObject({ total: 2, outcomes: [{ count: 2 }], tags: [{ tag: 'a', count: 1 }] })
    store.close()
  }
  const store = open()
  expect(store.add({ ...sample, id: 'third' })).toBe('third')
  expect(store.list(newest).rows.map(({ key }) => key)).toEqual(['third', 'labelled', 'sample'])
  store.remove('labelled')
  store.close()
  const checked = database()
  expect([
    checked.prepare('PRAGMA foreign_key_check').all(),
    checked.prepare('PRAGMA integrity_check').get(),
    checked.prepare(`SELECT header FROM headers WHERE key = 'labelled'`).get()?.header,
  ]).toEqual([[], { integrity_check: 'ok' }, expect.not.stringContaining('Mine')])
  checked.close()
})

test('migrate keeps a segment with many tokens, which older versions stored as one text', () => {
  const { tokenizer: _, ...model } = sample.model
  const ids = Array.from({ length: PART + 1 }, (_, index) => index)
  const long: Trajectory = { ...sample, model, segments: [{ kind: 'prompt', ids, messages: [] }] }
  madeByVersion1([long])
  const store = open()
  expect(isDeepStrictEqual(store.get('sample'), long)).toBe(true)
  expect(store.add(long)).toBe('sample')
  store.close()
})

/** Returns samples with the same prompt, whose text is long, and with a response of their own. */
function samples(count: number): readonly Trajectory[] {
  const { tokenizer: _, ...model } = sample.model
  const ids = Array.from({ length: 1000 }, (_, index) => index)
  const prompt = { kind: 'prompt', ids, messages: [] } as const
  return Array.from({ length: count }, (_, index): Trajectory => {
    const response = { kind: 'response', ids: [index, ...ids], thinks: [], toolCalls: [] } as const
    return { ...sample, id: `sample ${index}`, model, segments: [prompt, response] }
  })
}

test('migrate stores equal long segments once, and leaves the others in their rows', () => {
  const { segments, ...first } = samples(3)[0] as Trajectory
  const twice: Trajectory = { ...first, id: 'twice', segments: [...segments, ...segments] }
  madeByVersion1([...samples(3), sample, twice])
  const store = open()
  for (const one of [...samples(3), sample, twice]) expect(isDeepStrictEqual(store.get(one.id), one)).toBe(true)
  store.close()
  const after = database()
  expect(after.prepare('SELECT uses, length(text) AS length FROM shared_texts ORDER BY uses').all()).toEqual(
    [segments[1], segments[0]].map((segment, index) => ({
      uses: [3, 5][index],
      length: JSON.stringify(segment).length,
    })),
  )
  expect([wrongUses(after), after.prepare('PRAGMA integrity_check').get()]).toEqual([[], { integrity_check: 'ok' }])
  after.close()
})

test('migrate leaves the old database when its process is killed before the commit, and a later start upgrades it', async () => {
  madeByVersion1(samples(50))
  const program = `
    const { DatabaseSync } = await import('node:sqlite')
    const { openTrajectoryStore } = await import(${JSON.stringify(path.join(import.meta.dirname, 'trajectories.ts'))})
    const { exec } = DatabaseSync.prototype
    DatabaseSync.prototype.exec = function (sql) {
      // Changed pages do not fit into the cache, so they are written before the commit.
      if (sql === 'BEGIN IMMEDIATE') exec.call(this, 'PRAGMA cache_size = 10')
      if (sql.startsWith('PRAGMA user_version =')) process.kill(process.pid, 'SIGKILL')
      return exec.call(this, sql)
    }
    openTrajectoryStore(process.argv[1], { now: () => new Date() })`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, folder], { stdio: 'inherit' })
  expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
  expect(statSync(path.join(folder, 'rollscope.db-wal')).size).toBeGreaterThan(100_000)
  const old = database()
  expect([
    old.prepare('PRAGMA user_version').get(),
    old.prepare('SELECT count(*) AS n FROM segments WHERE length(segment) > 1000').get(),
    old.prepare(`SELECT count(*) AS n FROM sqlite_master WHERE name = 'shared_texts'`).get(),
  ]).toEqual([{ user_version: 1 }, { n: 100 }, { n: 0 }])
  old.close()
  const store = open()
  for (const one of samples(50)) expect(isDeepStrictEqual(store.get(one.id), one)).toBe(true)
  store.close()
})

test('migrate adds group columns for runs; imported files number their groups independently', () => {
  const inGroup = (id: string, index: number, of: Partial<Trajectory> = {}) => ({
    ...sample,
    ...of,
    id,
    group: { id: 'g', index },
  })
  const provenance = { kind: 'import', format: 'slime', lacked: [] } as const
  const imported = [5, 7].map((reward, index) => inGroup(`c${index}`, index, { provenance, reward }))
  const other = inGroup('e', 0, { provenance: { ...provenance, file: 'e.jsonl' }, reward: 1 })
  madeByVersion1([inGroup('b', 1), sample, inGroup('a', 0), ...imported, other])
  const store = open()
  store.add(inGroup('d', 2))
  expect(store.groupRows('g').map(({ key, group }) => [key, group?.index])).toEqual([
    ['a', 0],
    ['b', 1],
    ['d', 2],
  ])
  expect(store.list({ ...newest, filter: { group: 'g' } }).total).toBe(3)
  expect(['c1', 'e', 'sample'].map((key) => store.rewardsOfGroup(store.groupName(key) ?? ''))).toEqual([
    [5, 7],
    [1],
    [],
  ])
  store.close()
})

test('migrate lists what imported files lack', () => {
  const encodedAgain = { tokenizer: 't', template: true, mask: 'replies' }
  const provenance = { kind: 'import', format: 'messages', lacked: [], missing: ['logprobs'], encodedAgain } as const
  madeByVersion1([sample, { ...sample, id: 'imported', provenance }])
  const store = open()
  expect(store.list(newest).rows).toMatchObject([
    { key: 'imported', missing: ['logprobs'], isEncodedAgain: true },
    { key: 'sample', missing: [], isEncodedAgain: false },
  ])
  store.close()
})

test('migrate makes calls unknown that older versions could not count', () => {
  const without = (content: 'texts' | 'logprobs'): Trajectory => ({
    ...sample,
    id: content,
    segments: [{ kind: 'response', ids: [8], thinks: [], toolCalls: [] }],
    provenance: { kind: 'import', format: 'slime', lacked: [], missing: [content] },
  })
  const { model, ...texts } = without('texts')
  madeByVersion1([sample, without('logprobs'), { ...texts, model: { tools: model.tools } }])
  const store = open()
  expect(store.list(newest).rows).toMatchObject([
    { key: 'texts', toolCalls: null, failedCalls: null },
    { key: 'logprobs', toolCalls: 0, failedCalls: 0 },
    { key: 'sample', toolCalls: 2, failedCalls: 1 },
  ])
  store.close()
})

test('migrate lists where and how a trajectory was forked, and nothing for a header that does not say it', () => {
  const forkedFrom = { trajectory: 'sample', token: 3, kind: 'alternative' } as const
  const fork = (id: string): Trajectory => ({ ...sample, id, forkedFrom })
  madeByVersion1([sample, fork('fork'), fork('odd'), fork('unknown')])
  const old = database()
  const change = old.prepare('UPDATE trajectories SET header = ? WHERE key = ?')
  change.run(JSON.stringify({ forkedFrom: { trajectory: 'sample', token: 'x', kind: 7 } }), 'odd')
  change.run(JSON.stringify({ forkedFrom: { trajectory: 'sample', token: 2, kind: 'x' } }), 'unknown')
  old.close()
  const store = open()
  expect(store.related('sample').forks.map(({ key, fork }) => [key, fork])).toEqual([
    ['fork', { from: 'sample', token: 3, kind: 'alternative' }],
    ['odd', null],
    ['unknown', null],
  ])
  store.close()
})

test('migrate interrupts a run of version 1, also if another process has its process id', () => {
  madeByVersion1([{ ...sample, outcome: { kind: 'running' } }], process.pid)
  const store = open()
  expect(store.get('sample')?.outcome).toEqual({ kind: 'ended', reason: 'interrupted' })
  store.close()
})

test.each([
  ['a segment', `UPDATE segments SET segment = '{}' WHERE key = 'labelled' AND position = 0`],
  ['a header', `UPDATE trajectories SET header = '{"cut' WHERE key = 'labelled'`],
])('migrate keeps the others if %s cannot be read', (_, damage) => {
  madeByVersion1([sample, labelled])
  const old = database()
  old.exec(damage)
  old.close()
  const store = open()
  expect(store.get('sample')).toEqual(sample)
  expect(store.list(newest).rows).toMatchObject([{ key: 'labelled', question: 'Mine', tokens: 8 }, { key: 'sample' }])
  expect(() => store.get('labelled')).toThrow(/the stored trajectory labelled is damaged: \S/)
  store.close()
})

test('migrate is atomic', () => {
  madeByVersion1([sample])
  const old = database()
  old.exec('CREATE TABLE headers (in_the_way TEXT)')
  old.close()
  expect(open).toThrow(/headers already exists/)
  const after = database()
  expect([
    after.prepare('PRAGMA user_version').get(),
    after.prepare('SELECT title FROM trajectories').all(),
    after.prepare(`SELECT count(*) AS n FROM sqlite_master WHERE name = 'listed'`).get(),
  ]).toEqual([{ user_version: 1 }, [{ title: 'hi' }], { n: 0 }])
  after.close()
})

test('migrate upgrades no database that a running instance of an older version uses', () => {
  madeByVersion1([sample])
  const older = openInstance(folder)
  expect(open).toThrow(expect.objectContaining({ code: 'FOLDER_IN_USE' }))
  const unchanged = database()
  expect(unchanged.prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 })
  unchanged.close()
  older.close()
  const store = open()
  expect(store.list(newest).rows).toHaveLength(1)
  store.close()
})

test('migrate leaves a newer version unchanged and closes its file', () => {
  madeByVersion1([sample])
  const newer = database()
  newer.exec('PRAGMA user_version = 99')
  newer.close()
  expect(open).toThrow(StoreError)
  const after = database()
  expect(after.prepare('SELECT count(*) AS n FROM segments').get()).toEqual({ n: sample.segments.length })
  after.close()
})
