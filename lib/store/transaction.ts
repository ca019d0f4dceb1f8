import { statSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { StoreError } from './store-error.ts'

/**
 * Runs an action atomically; inside another transaction, its failure takes back only the action. Throws the first error, because
 * an error of the rollback is only its consequence. Throws StoreError if the file of the database is gone.
 */
export function transaction<T>(database: DatabaseSync, action: () => T): T {
  if (!database.isTransaction) requireFile(database)
  const [begin, commit, rollBack] = database.isTransaction ? NESTED : OUTERMOST
  database.exec(begin)
  try {
    const result = action()
    database.exec(commit)
    return result
  } catch (error) {
    // SQLite rolls back by itself after some errors, such as a full disk.
    if (database.isTransaction) tryTo(database, rollBack)
    throw error
  }
}

/**
 * Runs an action atomically without waiting for the disk. Its change survives the end of the process. It survives a power cut only if
 * another transaction was committed after it. Inside another transaction it is as durable as that one.
 */
export function unsyncedTransaction<T>(database: DatabaseSync, action: () => T): T {
  if (database.isTransaction) return transaction(database, action)
  database.exec('PRAGMA synchronous = NORMAL')
  try {
    return transaction(database, action)
  } finally {
    database.exec('PRAGMA synchronous = FULL')
  }
}

/** Runs an action that reads one state of the database, while other connections write. */
export function readTransaction<T>(database: DatabaseSync, action: () => T): T {
  if (database.isTransaction) return action()
  database.exec('BEGIN')
  try {
    return action()
  } finally {
    if (database.isTransaction) database.exec('COMMIT')
  }
}

/** SQLite writes on into a file that was deleted or moved, and all of it is lost when it is closed. */
function requireFile(database: DatabaseSync): void {
  const { file, inode } = openedFile(database)
  if (file === null || inodeOf(file) === inode) return
  throw new StoreError(
    'STORE_FAILED',
    `${file} was deleted, moved or replaced while it was open`,
    'Put the data folder back. To begin with an empty one, start Rollscope again.',
  )
}

const openedFile = memoizeByIdentity((database: DatabaseSync) => {
  const file = database.location()
  return { file, inode: file === null ? undefined : inodeOf(file) }
})

const inodeOf = (file: string): bigint | undefined => statSync(file, { bigint: true, throwIfNoEntry: false })?.ino

const OUTERMOST = ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK'] as const
const NESTED = ['SAVEPOINT nested', 'RELEASE nested', 'ROLLBACK TO nested; RELEASE nested'] as const

function tryTo(database: DatabaseSync, statement: string): void {
  try {
    database.exec(statement)
  } catch {
    // Nothing was committed.
  }
}
