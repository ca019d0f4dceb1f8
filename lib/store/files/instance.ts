/**
 * Tracks which runs belong to a running instance of the application. Each instance has a number and locks a file of
 * that name until it ends; the operating system releases the lock of a killed process. A process id would prove
 * nothing, because another process may get it after a restart or in another container.
 */
import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as z from 'zod/mini'

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
  /** Lets programs of the same user find this instance, until it ends. Others cannot read the file, which has the token. */
  announce(listening: Listening): void
  /** Ends the instance for others. A second call has no effect. */
  close(): void
}

const listeningSchema = z.object({ address: z.string(), token: z.string() })
/** Where an instance listens. */
export interface Listening {
  /** Such as `http://127.0.0.1:3000`. */
  readonly address: string
  /** The launch token, which every request needs. */
  readonly token: string
}

const FOLDER = 'instances'
/** End of the name of the file with the address of an instance. */
const ADDRESS = '.json'

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
  const remove = (one: number) => {
    for (const end of [ADDRESS, '']) rmSync(`${fileOf(one)}${end}`, { force: true })
  }
  return {
    id,
    file: fileOf(id),
    isAlive: (other) => other !== id && isLocked(fileOf(other)),
    removeDead() {
      const others = readdirSync(folder)
        .map(Number)
        .filter((other) => Number.isInteger(other) && other !== id)
      const { alive = [], dead = [] } = Object.groupBy(others, (other) => (isLocked(fileOf(other)) ? 'alive' : 'dead'))
      for (const other of dead) remove(other)
      return alive.map(fileOf)
    },
    announce(listening) {
      writeFileSync(`${fileOf(id)}${ADDRESS}`, JSON.stringify(listening), { mode: 0o600 })
    },
    close() {
      if (!own.isOpen) return
      own.close()
      remove(id)
    },
  }
}

/**
 * Returns where the running instances of a data folder listen. The lock proves that an instance runs, so the token is never sent to
 * another program that got the port of a killed one.
 */
export function runningInstances(dataFolder: string): readonly Listening[] {
  const folder = path.join(dataFolder, FOLDER)
  if (!existsSync(folder)) return []
  return readdirSync(folder).flatMap((name) => {
    if (!name.endsWith(ADDRESS) || !isLocked(path.join(folder, name.slice(0, -ADDRESS.length)))) return []
    const listening = listeningSchema.safeParse(readJson(path.join(folder, name)))
    return listening.success ? [listening.data] : []
  })
}

/** Returns whether an instance uses a data folder. */
export function hasRunningInstance(dataFolder: string): boolean {
  const folder = path.join(dataFolder, FOLDER)
  return (
    existsSync(folder) && readdirSync(folder).some((name) => /^\d+$/.test(name) && isLocked(path.join(folder, name)))
  )
}

/** Returns the value in a JSON file; undefined if it cannot be read, as while it is written or after it was removed. */
function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function isLocked(file: string): boolean {
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
