/**
 * Locks of files between processes. They are SQLite's locks, because Node has no others. The operating system releases them
 * when their process ends for any reason.
 */
import { DatabaseSync } from 'node:sqlite'

/** A lock that this process has. */
export interface FileLock {
  release(): void
}

/**
 * Returns the lock, or undefined if another process has it or the file cannot be created. Any number of processes may have a
 * `shared` lock at once while no process has an `exclusive` one. The file is empty and remains.
 */
export function tryLock(file: string, kind: 'exclusive' | 'shared'): FileLock | undefined {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { timeout: 0 })
    if (kind === 'exclusive') database.exec('BEGIN EXCLUSIVE')
    else database.exec('BEGIN; SELECT * FROM sqlite_schema')
    const open = database
    openLocks.add(open)
    return {
      release() {
        openLocks.delete(open)
        open.close()
      },
    }
  } catch {
    database?.close()
    return undefined
  }
}

/** Open databases. Without a reference, the garbage collector would close a database and release its lock. */
const openLocks = new Set<DatabaseSync>()
