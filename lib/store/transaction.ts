import type { DatabaseSync } from 'node:sqlite'

/** Runs an action atomically. Throws the first error, because an error of the rollback is only its consequence. */
export function transaction<T>(database: DatabaseSync, action: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = action()
    database.exec('COMMIT')
    return result
  } catch (error) {
    // SQLite rolls back by itself after some errors, such as a full disk.
    if (database.isTransaction) rollBack(database)
    throw error
  }
}

function rollBack(database: DatabaseSync): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // Nothing was committed.
  }
}
