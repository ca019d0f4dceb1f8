import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { beforeEach, expect, test, vi } from 'vitest'
import { folderOfTest } from '#testing/files/folders.ts'
import { openDatabase } from './database.ts'
import { createGroupCommit } from './group-commit.ts'
import { transaction, unsyncedTransaction } from './transaction.ts'

beforeEach(() => {})

/** Opens a database with a table of texts, and a second connection that sees only what is committed. */
function opened(lockTimeoutMs = 1) {
  const file = path.join(folderOfTest(), 'rollscope.db')
  const database = openDatabase(file, lockTimeoutMs)
  database.exec('CREATE TABLE texts (text TEXT)')
  const other = new DatabaseSync(file, { timeout: 1 })
  const put = database.prepare('INSERT INTO texts VALUES (?)')
  const committed = () =>
    other
      .prepare('SELECT text FROM texts ORDER BY rowid')
      .all()
      .map(({ text }) => text)
  const close = () => {
    other.close()
    database.close()
  }
  return { database, other, put, committed, close, ...createGroupCommit(database) }
}

test('groupCommit stores changes of one turn in one transaction and in their order, and resolves after its commit', async () => {
  const { database, put, committed, close, groupCommit } = opened()
  const execute = vi.spyOn(database, 'exec')
  const seen: unknown[] = []
  await Promise.all(
    ['a', 'b', 'c'].map((text) =>
      groupCommit(() => {
        seen.push([text, committed()])
        put.run(text)
        return text
      }).then((result) => seen.push([result, committed()])),
    ),
  )
  const all = ['a', 'b', 'c']
  expect(seen).toEqual([...all.map((text) => [text, []]), ...all.map((text) => [text, all])])
  expect(execute.mock.calls.filter(([statement]) => statement === 'COMMIT')).toHaveLength(1)
  close()
})

test('groupCommit rejects a change that throws and takes back only what that change wrote', async () => {
  const failure = new Error('ours')
  const { database, put, committed, close, groupCommit } = opened()
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 8 }), async (fails) => {
      database.exec('DELETE FROM texts')
      const results = await Promise.allSettled(
        fails.map((fail, index) =>
          groupCommit(() =>
            // The changes of the store have transactions of their own.
            transaction(database, () => {
              put.run(`${index}`)
              if (fail) throw failure
              return index
            }),
          ),
        ),
      )
      expect(results).toEqual(
        fails.map((fail, value) => (fail ? { status: 'rejected', reason: failure } : { status: 'fulfilled', value })),
      )
      expect(committed()).toEqual(fails.flatMap((fail, index) => (fail ? [] : [`${index}`])))
    }),
  )
  close()
})

test('groupCommit stores the other changes when one fills the disk, which takes back the whole transaction', async () => {
  const { database, put, committed, close, groupCommit } = opened()
  const pages = Number(database.prepare('PRAGMA page_count').get()?.page_count)
  database.exec(`PRAGMA max_page_count = ${pages + 2}`)
  const results = await Promise.allSettled(
    ['before', 'x'.repeat(1 << 20), 'after'].map((text) => groupCommit(() => void put.run(text))),
  )
  expect(results).toMatchObject([
    { status: 'fulfilled' },
    { status: 'rejected', reason: { message: 'database or disk is full' } },
    { status: 'fulfilled' },
  ])
  expect(committed()).toEqual(['before', 'after'])
  close()
})

test('groupCommit stores each change on its own when the shared commit fails', async () => {
  const { database, put, committed, close, groupCommit } = opened()
  // A violated deferred constraint fails at the commit, whichever change is to blame.
  database.exec('CREATE TABLE parts (text TEXT REFERENCES whole (text) DEFERRABLE INITIALLY DEFERRED)')
  database.exec('CREATE TABLE whole (text TEXT PRIMARY KEY)')
  const results = await Promise.allSettled([
    groupCommit(() => void put.run('a')),
    groupCommit(() => database.exec(`INSERT INTO parts VALUES ('absent')`)),
    groupCommit(() => void put.run('b')),
  ])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(committed()).toEqual(['a', 'b'])
  close()
})

test('groupCommit waits for a locked database while other work of the process runs', async () => {
  const { other, put, committed, close, groupCommit } = opened(60_000)
  other.exec('BEGIN IMMEDIATE')
  const stored = groupCommit(() => void put.run('a'))
  // This runs only if the process is not blocked.
  setTimeout(() => other.exec('ROLLBACK'), 50)
  const later = new Promise((resolve) => setTimeout(resolve, 20)).then(() => groupCommit(() => void put.run('b')))
  await Promise.all([stored, later])
  expect(committed()).toEqual(['a', 'b'])
  close()
})

test('groupCommit waits once for a locked database and rejects all changes', async () => {
  const { database, other, put, committed, close, groupCommit } = opened()
  other.exec('BEGIN IMMEDIATE')
  const execute = vi.spyOn(database, 'exec')
  const results = await Promise.allSettled(['a', 'b'].map((text) => groupCommit(() => void put.run(text))))
  expect(results).toMatchObject(Array(2).fill({ status: 'rejected', reason: { message: 'database is locked' } }))
  expect(execute.mock.calls.flat()).not.toContain('BEGIN IMMEDIATE')
  other.exec('ROLLBACK')
  expect(committed()).toEqual([])
  await groupCommit(() => void put.run('later'))
  expect(committed()).toEqual(['later'])
  close()
})

test('groupCommit lets other work run after 50 ms of changes, and stores the rest in a further transaction', async () => {
  const { put, committed, close, groupCommit } = opened()
  const seen: string[] = []
  const change = (text: string) => () => {
    for (const begun = performance.now(); performance.now() - begun < 60; );
    seen.push(text)
    put.run(text)
  }
  const stored = Promise.all(['a', 'b'].map((text) => groupCommit(change(text))))
  setImmediate(() => seen.push('other work'))
  await stored
  expect(seen).toEqual(['a', 'other work', 'b'])
  expect(committed()).toEqual(['a', 'b'])
  close()
})

test('commitWaiting commits at once what has not been committed, and nothing twice', async () => {
  const { put, committed, close, groupCommit, commitWaiting } = opened()
  const stored = groupCommit(() => void put.run('a'))
  commitWaiting()
  expect(committed()).toEqual(['a'])
  await stored
  await new Promise((resolve) => setImmediate(resolve))
  expect(committed()).toEqual(['a'])
  close()
})

test('A transaction that does not wait for the disk is committed at once, and later ones wait for it again', () => {
  const { database, put, committed, close } = opened()
  const level = () => database.prepare('PRAGMA synchronous').get()
  unsyncedTransaction(database, () => {
    expect(level()).toEqual({ synchronous: 1 })
    put.run('one')
  })
  expect([committed(), level()]).toEqual([['one'], { synchronous: 2 }])
  expect(() =>
    unsyncedTransaction(database, () => {
      put.run('lost')
      throw new Error('no')
    }),
  ).toThrow('no')
  transaction(database, () => unsyncedTransaction(database, () => put.run('two')))
  expect([committed(), level()]).toEqual([['one', 'two'], { synchronous: 2 }])
  close()
})
