/**
 * Which runs belong to a running instance of the application. An instance has a number of its own and keeps the file of
 * that name locked until it ends, however it ends: the operating system takes the lock of a process that was killed. A
 * process id would prove nothing, since another process may have it after a restart or in another container.
 */
import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface Instance {
  readonly id: number
  /** Its file in the data folder. */
  readonly file: string
  /** Whether an instance other than this one runs. */
  isAlive(id: number): boolean
  /** Removes the files that killed instances left. Returns the files of those that run. No other instance may be starting meanwhile. */
  removeDead(): readonly string[]
  /** Ends it for the others. A second call does nothing. */
  close(): void
}

const FOLDER = 'instances'

/** Larger than every process id: versions before this one stored those in the same column. */
const SMALLEST_ID = 2 ** 32
const LARGEST_ID = 2 ** 48 - 1

/** Registers this instance in the data folder. */
export function openInstance(dataFolder: string): Instance {
  const folder = path.join(dataFolder, FOLDER)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const fileOf = (id: number) => path.join(folder, String(id))
  const id = randomInt(SMALLEST_ID, LARGEST_ID)
  const own = lockedFile(fileOf(id))
  const isAlive = (other: number): boolean => {
    const file = fileOf(other)
    if (!existsSync(file)) return false
    try {
      lockedFile(file).close()
      return false
    } catch (error) {
      // It is locked, or cannot be opened: nobody may write on what might be a run of another instance.
      if ((error as { readonly code?: unknown }).code === 'ERR_SQLITE_ERROR') return true
      throw error
    }
  }
  return {
    id,
    file: fileOf(id),
    isAlive: (other) => other !== id && isAlive(other),
    removeDead() {
      const others = readdirSync(folder)
        .map(Number)
        .filter((other) => Number.isInteger(other) && other !== id)
      const { alive = [], dead = [] } = Object.groupBy(others, (other) => (isAlive(other) ? 'alive' : 'dead'))
      for (const other of dead) rmSync(fileOf(other), { force: true })
      return alive.map(fileOf)
    },
    close() {
      if (!own.isOpen) return
      own.close()
      rmSync(fileOf(id), { force: true })
    },
  }
}

/** SQLite's locks are those of the operating system, on every platform. Nothing is ever written to the file. */
function lockedFile(file: string): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: 0 })
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}
