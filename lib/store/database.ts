/** Opens the SQLite file, restricts its permissions and upgrades its schema. */
import { chmodSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { hasRunningInstance } from './files/instance.ts'
import { migrate } from './schema.ts'

/** File name in the data folder. */
export const DATABASE_FILE = 'rollscope.db'

/** How long SQLite waits for another writer, in milliseconds. It blocks the whole process. */
export const LOCK_TIMEOUT_MS = 5000

/** Opens the database. Throws StoreError for a file of a newer version, and SQLite's errors. */
export function openDatabase(file: string, lockTimeoutMs = LOCK_TIMEOUT_MS): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: lockTimeoutMs })
  try {
    // With FULL, everything that the page showed as recorded survives a power cut.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    for (const suffix of ['', '-wal', '-shm']) chmodIfThere(file + suffix)
    // When an upgrade replaces tables, rows that refer to them must not be deleted with the old ones.
    database.exec('PRAGMA foreign_keys = OFF')
    migrate(database, () => hasRunningInstance(path.dirname(file)))
    database.exec('PRAGMA foreign_keys = ON')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function chmodIfThere(file: string): void {
  try {
    chmodSync(file, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
