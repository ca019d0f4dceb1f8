/**
 * Tracks which runs belong to a running instance of the application. Each instance has a number and locks a file of
 * that name until it ends; the operating system releases the lock of a killed process. A process id would prove
 * nothing, because another process may get it after a restart or in another container.
 */
import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/** A running instance of the application. */
export interface Instance {
  readonly id: number
  /** Its file in the data folder. */
  readonly file: string
  /** Returns whether a different instance is running. */
  isAlive(id: number): boolean
  /**
   * Removes the files of killed instances and returns those of running ones. No other instance may be starting at the
   * same time.
   */
  removeDead(): readonly string[]
  /** Ends the instance for others. A second call has no effect. */
  close(): void
}

const FOLDER = 'instances'

/** Larger than any process id, which earlier versions stored in the same column. */
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
      // The file is locked or cannot be opened: its run may belong to another instance and must not be changed.
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

/** SQLite uses the operating system's locks on every platform. Nothing is written to the file. */
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
