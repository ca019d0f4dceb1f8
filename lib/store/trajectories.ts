/** Trajectories in SQLite: a closed segment is on disk before anybody is told of it. */
import { chmodSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { decodeValue, encode } from '#lib/core/codec.ts'
import { conversation } from '#lib/core/conversation.ts'
import { violationText } from '#lib/core/schema-violation.ts'
import { statistics } from '#lib/core/statistics.ts'
import type { Segment, Trajectory } from '#lib/core/trajectory.ts'

export interface TrajectoryStore {
  /**
   * Keeps a trajectory under its id. An id that is taken by another trajectory is told apart with a suffix: the key
   * under which it is found; the trajectory itself stays as it is. `runsHere`: this process is about to write it on, and
   * when the process is gone without having ended it, it was interrupted.
   */
  add(trajectory: Trajectory, origin?: { readonly runsHere: boolean }): string
  /** Writes what changed: everything but the segments before `from`. */
  update(key: string, trajectory: Trajectory, from: number): void
  get(key: string): Trajectory | undefined
  /** Newest first. */
  list(page: { readonly limit: number; readonly before?: number }): {
    readonly rows: readonly TrajectorySummary[]
    readonly next?: number
  }
  close(): void
}

export interface TrajectorySummary {
  readonly key: string
  readonly id: string
  /** The title given, else the beginning of the first question. */
  readonly title: string
  readonly createdAt: string
  readonly model: string | null
  /** `running`, a reason such as `end_turn`, or the code of a failure. */
  readonly outcome: string
  readonly tokens: number
  readonly trained: number
}

export class StoreError extends Error {
  override readonly name = 'StoreError'
}

const SCHEMA_VERSION = 1

/** Runs whose process is gone are marked interrupted. `isAlive` tells whether a process id is in use. */
export function openTrajectoryStore(
  folder: string,
  processId: number,
  isAlive: (pid: number) => boolean,
): TrajectoryStore {
  const file = path.join(folder, 'rollscope.db')
  const database = new DatabaseSync(file, { timeout: 5000 })
  // FULL: what the page has shown as recorded survives a power cut too.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
  for (const suffix of ['', '-wal', '-shm']) chmodIfThere(file + suffix)
  migrate(database)
  const store = createStore(database, processId)
  markInterrupted(database, store, isAlive)
  return store
}

function chmodIfThere(file: string): void {
  try {
    chmodSync(file, 0o600)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function migrate(database: DatabaseSync): void {
  const version = Number(database.prepare('PRAGMA user_version').get()?.user_version)
  if (version > SCHEMA_VERSION)
    throw new StoreError(
      `the database was written by a newer Rollscope (schema ${version}, this one knows ${SCHEMA_VERSION}): update it, or set ROLLSCOPE_DATA to another folder`,
    )
  if (version === SCHEMA_VERSION) return
  transaction(database, () =>
    database.exec(`
      CREATE TABLE trajectories (
        sequence INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT NOT NULL UNIQUE,
        header TEXT NOT NULL,
        title TEXT NOT NULL,
        model TEXT,
        outcome TEXT NOT NULL,
        tokens INTEGER NOT NULL,
        trained INTEGER NOT NULL,
        running_in INTEGER
      ) STRICT;
      CREATE TABLE segments (
        key TEXT NOT NULL REFERENCES trajectories (key) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        segment TEXT NOT NULL,
        PRIMARY KEY (key, position)
      ) STRICT, WITHOUT ROWID;
      PRAGMA user_version = ${SCHEMA_VERSION};
    `),
  )
}

function createStore(database: DatabaseSync, processId: number): TrajectoryStore {
  const insert = database.prepare(
    'INSERT INTO trajectories (key, header, title, model, outcome, tokens, trained, running_in) VALUES ($key, $header, $title, $model, $outcome, $tokens, $trained, $running_in)',
  )
  const updateHeader = database.prepare(
    'UPDATE trajectories SET header = $header, title = $title, model = $model, outcome = $outcome, tokens = $tokens, trained = $trained, running_in = $running_in WHERE key = $key',
  )
  const putSegment = database.prepare('INSERT OR REPLACE INTO segments (key, position, segment) VALUES (?, ?, ?)')
  const dropSegments = database.prepare('DELETE FROM segments WHERE key = ? AND position >= ?')
  const header = database.prepare('SELECT header FROM trajectories WHERE key = ?')
  const segments = database.prepare('SELECT segment FROM segments WHERE key = ? ORDER BY position')
  const page = database.prepare(
    'SELECT sequence, key, header, title, model, outcome, tokens, trained FROM trajectories WHERE sequence < ? ORDER BY sequence DESC LIMIT ?',
  )
  const writeSegments = (key: string, all: readonly Segment[], from: number) => {
    dropSegments.run(key, all.length)
    for (const [offset, segment] of all.slice(from).entries())
      putSegment.run(key, from + offset, JSON.stringify(segment))
  }
  const get = (key: string): Trajectory | undefined => {
    const row = header.get(key)
    if (!row) return undefined
    const rows = segments.all(key).map(({ segment }) => JSON.parse(String(segment)) as unknown)
    const decoded = decodeValue({ ...JSON.parse(String(row.header)), segments: rows })
    if (!decoded.ok) throw new StoreError(`the stored trajectory ${key} is damaged: ${violationText(decoded.error)}`)
    return decoded.trajectory
  }
  const freeKey = (trajectory: Trajectory): { readonly key: string; readonly isStored: boolean } => {
    const text = encode(trajectory)
    const base = keyOf(trajectory.id)
    for (let n = 1; ; n++) {
      const key = n === 1 ? base : `${base}~${n}`
      const stored = get(key)
      if (!stored) return { key, isStored: false }
      if (encode(stored) === text) return { key, isStored: true }
    }
  }
  return {
    add(trajectory, { runsHere } = { runsHere: false }) {
      return transaction(database, () => {
        const { key, isStored } = freeKey(trajectory)
        if (!isStored) {
          insert.run({ key, ...headerColumns(trajectory, runsHere ? processId : null) })
          writeSegments(key, trajectory.segments, 0)
        }
        return key
      })
    },
    update(key, trajectory, from) {
      transaction(database, () => {
        updateHeader.run({
          key,
          ...headerColumns(trajectory, trajectory.outcome.kind === 'running' ? processId : null),
        })
        writeSegments(key, trajectory.segments, from)
      })
    },
    get,
    list({ limit, before }) {
      const rows = page.all(before ?? Number.MAX_SAFE_INTEGER, limit + 1)
      const shown = rows.slice(0, limit)
      const last = shown.at(-1)
      return {
        rows: shown.map((row) => summary(row)),
        ...(rows.length > limit && last && { next: Number(last.sequence) }),
      }
    },
    close: () => database.close(),
  }
}

/** An id may be any text; a key stands in addresses, where some texts mean something else or nothing. */
const keyOf = (id: string): string => (/^\.{1,2}$/.test(id) ? `id${id}` : id.toWellFormed())

function headerColumns(trajectory: Trajectory, runningIn: number | null) {
  const { segments: _, ...header } = trajectory
  const { tokens, trained } = statistics(trajectory)
  return {
    header: JSON.stringify(header),
    title: titleOf(trajectory),
    model: trajectory.model.name ?? null,
    outcome: outcomeText(trajectory),
    tokens,
    trained,
    running_in: runningIn,
  }
}

const TITLE_LENGTH = 120

function titleOf(trajectory: Trajectory): string {
  if (trajectory.title !== undefined) return trajectory.title
  const unsent = trajectory.outcome.kind === 'running' ? [] : (trajectory.outcome.unsent ?? [])
  const question = [...conversation(trajectory), ...unsent].find(({ role }) => role === 'user')
  const text = typeof question?.content === 'string' ? question.content : ''
  return text.slice(0, TITLE_LENGTH)
}

function outcomeText({ outcome }: Trajectory): string {
  if (outcome.kind === 'ended') return outcome.reason
  return outcome.kind === 'failed' ? outcome.code : 'running'
}

type Row = Record<string, unknown>

function summary(row: Row): TrajectorySummary {
  const header = JSON.parse(String(row.header)) as { readonly id: string; readonly createdAt: string }
  return {
    key: String(row.key),
    id: header.id,
    title: String(row.title),
    createdAt: header.createdAt,
    model: row.model === null ? null : String(row.model),
    outcome: String(row.outcome),
    tokens: Number(row.tokens),
    trained: Number(row.trained),
  }
}

function markInterrupted(database: DatabaseSync, store: TrajectoryStore, isAlive: (pid: number) => boolean): void {
  const running = database.prepare('SELECT key, running_in FROM trajectories WHERE running_in IS NOT NULL').all()
  const leave = database.prepare("UPDATE trajectories SET running_in = NULL, outcome = 'interrupted' WHERE key = ?")
  for (const { key, running_in } of running) {
    if (isAlive(Number(running_in))) continue
    try {
      const trajectory = store.get(String(key))
      if (trajectory)
        store.update(
          String(key),
          { ...trajectory, outcome: { kind: 'ended', reason: 'interrupted' } },
          trajectory.segments.length,
        )
    } catch (error) {
      // One that cannot be read must not keep the others from being opened; opening it says what is wrong with it.
      if (!(error instanceof StoreError)) throw error
      leave.run(String(key))
    }
  }
}

function transaction<T>(database: DatabaseSync, action: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = action()
    database.exec('COMMIT')
    return result
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}
