import type { DatabaseSync } from 'node:sqlite'

/** All of the action or nothing of it. Throws the first error: one of the rollback is only a consequence of it. */
export function transaction<T>(database: DatabaseSync, action: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = action()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // After some errors, such as a full disk, SQLite has rolled back by itself.
    if (database.isTransaction) rollBack(database)
    throw error
  }
}

function rollBack(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // Nothing of the action was committed.
  }
}
