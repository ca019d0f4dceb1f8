/**
 * Tests the effect of disks, other programs and damaged files on the store: a named error, while stored data stays
 * readable.
 */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { beforeEach, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { openMcpServerStore, openServerStore } from './files/servers.ts'
import { StoreError, type StoreErrorCode, storeErrorOf } from './store-error.ts'
import { openTrajectoryStore, type TrajectoryStore } from './trajectories.ts'
import { transaction } from './transaction.ts'

let folder: string
beforeEach(() => {
  folder = folderOfTest()
})

const file = () => path.join(folder, 'rollscope.db')
const newest = { filter: {}, sort: { by: 'added', order: 'desc' }, limit: 50 } as const
const named = (id: string): Trajectory => ({ ...sample, id })
const running = (id: string): Trajectory => ({ ...named(id), segments: [], outcome: { kind: 'running' } })

/** Opens a store and its connection. */
function opened(): { readonly store: TrajectoryStore; readonly connection: DatabaseSync } {
  let connection: DatabaseSync | undefined
  const store = openTrajectoryStore(folder, {
    now: () => new Date(),
    lockTimeoutMs: 1,
    onOpened(database) {
      connection = database
    },
  })
  return { store, connection: connection as DatabaseSync }
}

function failure(action: () => unknown): StoreError {
  try {
    action()
  } catch (error) {
    if (error instanceof StoreError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

/** The connection cannot grow its file, like on a full disk. */
const fillDisk = (connection: DatabaseSync) => connection.exec('PRAGMA max_page_count = 1')
const freeDisk = (connection: DatabaseSync) => connection.exec('PRAGMA max_page_count = 4294967294')

test('a write on a full disk fails with DISK_FULL, advice and cause; reading and later writes work', () => {
  const { store, connection } = opened()
  store.add(sample)
  fillDisk(connection)
  const large = { ...named('large'), note: 'x'.repeat(1 << 20) }
  const error = failure(() => store.add(large))
  expect(error).toMatchObject({
    code: 'DISK_FULL',
    message: `there is no space left to write ${file()}`,
    hint: expect.stringContaining('Free some space'),
    cause: expect.objectContaining({ message: 'database or disk is full' }),
  })
  expect([store.get('sample'), store.get('large')]).toEqual([sample, undefined])
  freeDisk(connection)
  expect(store.add(large)).toBe('large')
  store.close()
})

test('transaction throws the error of its action, also after an automatic rollback', () => {
  const database = new DatabaseSync(':memory:')
  const first = new Error('first')
  for (const isRolledBack of [true, false])
    expect(() =>
      transaction(database, () => {
        if (isRolledBack) database.exec('ROLLBACK')
        throw first
      }),
    ).toThrow(first)
  expect(transaction(database, () => 'works')).toBe('works')
  database.close()
})

test('the end of a run that cannot be stored is shown, and the run can be deleted and stored later', () => {
  const { store, connection } = opened()
  const key = store.add(running('run'), { runsHere: true })
  store.update(key, { ...sample, id: 'run', outcome: { kind: 'running' } }, 0)
  const end: Trajectory = { ...named('run'), outcome: { kind: 'failed', code: 'DISK_FULL', message: 'no space' } }
  connection.exec('PRAGMA query_only = ON')
  expect(failure(() => store.update(key, end, end.segments.length)).code).toBe('READ_ONLY')
  expect(store.get(key)).toEqual(end)
  expect(store.list(newest).rows).toMatchObject([{ key, outcomeKind: 'failed', outcome: 'DISK_FULL' }])
  connection.exec('PRAGMA query_only = OFF')
  expect(store.remove(key)).toBe('removed')
  store.restore(key)
  store.update(key, end, end.segments.length)
  store.close()
  const again = opened().store
  expect(again.get(key)).toEqual(end)
  again.close()
})

test('whenUnlocked fails with DATABASE_LOCKED while another program has locked the database, and later writes wait as before', async () => {
  const { store, connection } = opened()
  const holder = new DatabaseSync(file())
  holder.exec('BEGIN IMMEDIATE')
  await expect(store.whenUnlocked()).rejects.toMatchObject({ code: 'DATABASE_LOCKED' })
  holder.exec('ROLLBACK')
  await store.whenUnlocked()
  expect(connection.prepare('PRAGMA busy_timeout').get()).toEqual({ timeout: 1 })
  holder.close()
  store.close()
})

test('a database that another program has locked fails with DATABASE_LOCKED at start and on a write', () => {
  const { store } = opened()
  const holder = new DatabaseSync(file())
  holder.exec('BEGIN IMMEDIATE')
  expect(failure(() => store.add(sample))).toMatchObject({
    code: 'DATABASE_LOCKED',
    message: `another program has locked ${file()}`,
  })
  expect(store.list(newest).rows).toEqual([])
  expect(failure(opened).code).toBe('DATABASE_LOCKED')
  holder.exec('ROLLBACK')
  holder.close()
  expect(store.add(sample)).toBe('sample')
  store.close()
})

test('a write into a database that was moved, deleted or replaced fails with STORE_FAILED, and works when it is back', () => {
  const { store } = opened()
  store.add(named('before'))
  const gone = {
    code: 'STORE_FAILED',
    message: `${file()} was deleted, moved or replaced while it was open`,
    hint: expect.stringContaining('Put the data folder back'),
  }
  renameSync(folder, `${folder}-moved`)
  expect(failure(() => store.add(named('lost')))).toMatchObject(gone)
  mkdirSync(folder)
  opened().store.close()
  expect(failure(() => store.label('before', { title: 'lost' }))).toMatchObject(gone)
  rmSync(folder, { recursive: true })
  renameSync(`${folder}-moved`, folder)
  expect(store.add(named('after'))).toBe('after')
  expect(store.list(newest).rows.map(({ key }) => key)).toEqual(['after', 'before'])
  store.close()
})

test('a database with a damaged header fails with DATABASE_DAMAGED and stays unchanged', () => {
  opened().store.close()
  const bytes = readFileSync(file())
  bytes.fill(0xff, 0, 100)
  writeFileSync(file(), bytes)
  const error = failure(opened)
  expect([error.code, error.hint]).toEqual(['DATABASE_DAMAGED', expect.stringContaining('restore a backup')])
  expect(readFileSync(file())).toEqual(bytes)
})

test('a database with damaged pages fails with DATABASE_DAMAGED when they are read', () => {
  const { store } = opened()
  for (let n = 0; n < 50; n++) store.add({ ...named(`t${n}`), note: 'x'.repeat(5000) })
  store.close()
  const bytes = readFileSync(file())
  for (let page = 2; page * 4096 < bytes.length; page++) bytes.fill(0xff, page * 4096, page * 4096 + 8)
  writeFileSync(file(), bytes)
  const error = failure(() => {
    const { store: damaged } = opened()
    try {
      damaged.list(newest)
    } finally {
      damaged.close()
    }
  })
  expect(error.code).toBe('DATABASE_DAMAGED')
})

test('a truncated database fails with DATABASE_DAMAGED', () => {
  const { store } = opened()
  for (let n = 0; n < 50; n++) store.add({ ...named(`t${n}`), note: 'x'.repeat(5000) })
  store.close()
  truncateSync(file(), 5 * 4096)
  expect(
    failure(() => {
      const { store: cut } = opened()
      try {
        cut.list(newest)
      } finally {
        cut.close()
      }
    }).code,
  ).toBe('DATABASE_DAMAGED')
})

test('a folder in place of the database fails with STORE_FAILED', () => {
  mkdirSync(file())
  expect(failure(opened)).toMatchObject({ code: 'STORE_FAILED', message: expect.stringContaining('cannot be used') })
})

test.each<[string, string, RegExp]>([
  ['is empty', '', /the file is empty/],
  ['was cut off', '{"servers": [{"name": "a", "apiKey": "secret-of-a', /the file is not JSON, or is truncated$/],
  ['is an array', '[]', /expected an object, found/],
  ['lacks an address', '{"servers": [{"name": "a"}]}', /servers\[0\]\.baseUrl/],
])(
  'A servers.json that %s is SETTINGS_DAMAGED, names what is wrong without its keys, and is left as it is',
  (_, text, words) => {
    const settings = path.join(folder, 'servers.json')
    writeFileSync(settings, text)
    const error = failure(() => openServerStore(folder).list())
    expect([error.code, error.message, error.hint]).toEqual([
      'SETTINGS_DAMAGED',
      expect.stringMatching(words),
      expect.stringContaining('move it away'),
    ])
    expect(error.message).toContain(settings)
    expect(`${error.message} ${error.cause}`).not.toContain('secret-of-a')
    expect(readFileSync(settings, 'utf8')).toBe(text)
  },
)

test('settings that cannot be saved fail with a named error and leave no partial file', () => {
  const settings = path.join(folder, 'mcp-servers.json')
  // A file cannot replace a folder, for any user.
  mkdirSync(settings)
  expect(failure(() => openMcpServerStore(folder).save([])).code).toBe('STORE_FAILED')
  expect(readdirSync(folder)).toEqual(['mcp-servers.json'])
  expect(statSync(settings).isDirectory()).toBe(true)
})

test.each<[string, StoreErrorCode]>([
  ['ENOSPC', 'DISK_FULL'],
  ['EDQUOT', 'DISK_FULL'],
  ['EROFS', 'READ_ONLY'],
  ['EACCES', 'READ_ONLY'],
  ['EIO', 'STORE_FAILED'],
])('The system error %s is %s', (code, expected) => {
  const error = Object.assign(new Error('x'), { code, syscall: 'write' })
  expect(storeErrorOf(error, 'f')).toMatchObject({ code: expected, cause: error })
})

test('a database whose shared memory cannot grow is on a full disk', () => {
  const errorWith = (errcode: number) =>
    Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode })
  expect([4874, 10, 778].map((errcode) => (storeErrorOf(errorWith(errcode), 'f') as StoreError).code)).toEqual([
    'DISK_FULL',
    'STORE_FAILED',
    'STORE_FAILED',
  ])
})

test('storeErrorOf does not treat our own errors as disk errors', () => {
  const error = new TypeError('ours')
  expect([storeErrorOf(error, 'f'), storeErrorOf('text', 'f')]).toEqual([error, 'text'])
})
