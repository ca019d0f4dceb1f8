/** The SQLite file: opened, closed to others, brought to the schema of this version. */
import { chmodSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { migrate } from './schema.ts'

/** In the data folder. */
export const DATABASE_FILE = 'rollscope.db'

/** How long SQLite waits for another writer, in milliseconds. The whole process waits with it. */
export const LOCK_TIMEOUT_MS = 5000

/** Throws StoreError for a file of a newer version, and errors of SQLite. */
export function openDatabase(file: string, lockTimeoutMs = LOCK_TIMEOUT_MS): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: lockTimeoutMs })
  try {
    // FULL: what the page has shown as recorded survives a power cut too.
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
    for (const suffix of ['', '-wal', '-shm']) chmodIfThere(file + suffix)
    // Where tables are replaced, what refers to them must not be deleted with the old ones.
    database.exec('PRAGMA foreign_keys = OFF')
    migrate(database)
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
