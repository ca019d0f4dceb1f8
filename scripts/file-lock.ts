/**
 * Locks of files between processes. The operating system releases them when their process ends, however it ends: they are those of
 * SQLite, because Node has no others.
 */
import { DatabaseSync } from 'node:sqlite'

export interface FileLock {
  release(): void
}

/**
 * Returns undefined when another process has the lock, or when the file cannot be made. `shared`: any number of processes may have
 * the lock at once, as long as none has it alone. The file is empty and stays.
 */
export function tryLock(file: string, kind: 'alone' | 'shared'): FileLock | undefined {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { timeout: 0 })
    if (kind === 'alone') database.exec('BEGIN EXCLUSIVE')
    else database.exec('BEGIN; SELECT * FROM sqlite_schema')
    const open = database
    held.add(open)
    return {
      release() {
        held.delete(open)
        open.close()
      },
    }
  } catch {
    database?.close()
    return undefined
  }
}

/** A database that nobody refers to is closed by the garbage collector, and its lock is released. */
const held = new Set<DatabaseSync>()
