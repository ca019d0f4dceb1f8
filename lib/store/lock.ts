/**
 * Waits for other writers without blocking the process: SQLite itself waits in the thread that answers all requests. The driver of Node has no
 * asynchronous calls, so the lock is tried again and again.
 */
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { StoreError, storeErrorOf } from './store-error.ts'

/** Milliseconds between two attempts. */
const AGAIN_MS = 20

/** Resolves when a write need not wait. Throws SQLite's error when another program has locked the database for as long as a write waits. */
export async function whenUnlocked(database: DatabaseSync): Promise<void> {
  const endMs = performance.now() + lockTimeoutMs(database)
  for (let error = lockError(database); error; error = lockError(database)) {
    if (performance.now() >= endMs) throw error
    await pause(AGAIN_MS)
  }
}

/** Runs an action whose writes wait for a lock only for so many milliseconds. */
export function withLockTimeout<T>(database: DatabaseSync, ms: number, action: () => T): T {
  const usualMs = lockTimeoutMs(database)
  database.exec(`PRAGMA busy_timeout = ${ms}`)
  try {
    return action()
  } finally {
    database.exec(`PRAGMA busy_timeout = ${usualMs}`)
  }
}

/** Returns the error of a write if the database is locked. Any other error is left to the write itself. */
function lockError(database: DatabaseSync): unknown {
  return withLockTimeout(database, 0, () => {
    try {
      database.exec('BEGIN IMMEDIATE; ROLLBACK')
      return undefined
    } catch (error) {
      const known = storeErrorOf(error, '')
      return known instanceof StoreError && known.code === 'DATABASE_LOCKED' ? error : undefined
    }
  })
}

const lockTimeoutMs = memoizeByIdentity((database: DatabaseSync) =>
  Number(database.prepare('PRAGMA busy_timeout').get()?.timeout),
)
