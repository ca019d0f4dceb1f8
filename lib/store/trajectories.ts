/** Trajectories in SQLite: a closed segment is on disk before anybody is told of it. */
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { encode } from '#lib/core/codec.ts'
import { changedLabels, type LabelChange, labelsOf, withLabels } from '#lib/core/labels.ts'
import type { Choices, TrajectorySummary } from '#lib/core/library.ts'
import type { Segment, Trajectory } from '#lib/core/trajectory.ts'
import { DATABASE_FILE, openDatabase } from './database.ts'
import { labelColumns, labelsIn, recordColumns, SUMMARY_COLUMNS, summary } from './entry.ts'
import { createGroupStore, type GroupStore } from './groups.ts'
import { createHealthStore, type HealthStore } from './health.ts'
import { choices, type ListQuery, list, type Page } from './listing.ts'
import { recordReader } from './record.ts'
import { insertRow, updateRow } from './row.ts'
import { createSearchIndex, recordIndex } from './search-index.ts'
import { StoreError } from './store-error.ts'
import { transaction } from './transaction.ts'

export interface TrajectoryStore extends Omit<HealthStore, 'revision'>, GroupStore {
  /**
   * Keeps a trajectory under its id. An id that is taken by another trajectory is told apart with a suffix: the key
   * under which it is found; the trajectory itself stays as it is. An equal one that was deleted is restored. One that
   * cannot be read is another one, or makes room if it was deleted.
   * `runsHere`: this process is about to write it on, and when the process is gone without having ended it, it was
   * interrupted.
   */
  add(trajectory: Trajectory, origin?: { readonly runsHere: boolean }): string
  /** Keeps all of them or none. */
  addAll(trajectories: readonly Trajectory[]): readonly string[]
  /** Writes what a run changes: everything but the labels, which stay as they are stored, and the segments before `from`. */
  update(key: string, trajectory: Trajectory, from: number): void
  /** Undefined where there is none, or where it is deleted. */
  get(key: string): Trajectory | undefined
  /** Changes labels, in mid-run too. Undefined like `get`. */
  label(key: string, change: LabelChange): TrajectorySummary | undefined
  list(query: ListQuery): Page
  /** What there is to filter by. */
  choices(): Choices
  /** Hides a trajectory; one that is being written stays. Those deleted longer than a day are gone with the next start. */
  remove(key: string): 'removed' | 'running' | 'absent'
  /** Brings a deleted one back. Undefined where there is none. */
  restore(key: string): TrajectorySummary | undefined
  isDeleted(key: string): boolean
  close(): void
}

interface StoreOptions {
  readonly processId: number
  /** Whether a process id is in use: runs whose process is gone are marked interrupted. */
  readonly isAlive: (pid: number) => boolean
  readonly now: () => Date
}

/** Throws StoreError for a database of a newer version. */
export function openTrajectoryStore(folder: string, { processId, isAlive, now }: StoreOptions): TrajectoryStore {
  const database = openDatabase(path.join(folder, DATABASE_FILE))
  const { markInterrupted, purge, ...store } = createStore(database, processId, now)
  markInterrupted(isAlive)
  purge(now().getTime() - KEPT_DELETED_MS)
  return store
}

/** Deleted trajectories can be restored at least this long. */
const KEPT_DELETED_MS = 24 * 60 * 60_000

interface OpenedStore extends TrajectoryStore {
  markInterrupted(isAlive: StoreOptions['isAlive']): void
  /** Deletes for good what was deleted before this time, in ms. */
  purge(before: number): void
}

function createStore(database: DatabaseSync, processId: number, now: () => Date): OpenedStore {
  const statements = prepared(database)
  const { revision: _, ...health } = createHealthStore(database)
  const searchIndex = createSearchIndex(database)
  const writeSegments = (key: string, all: readonly Segment[], from: number) => {
    statements.dropSegments.run(key, all.length)
    for (const [offset, segment] of all.slice(from).entries())
      statements.putSegment.run(key, from + offset, JSON.stringify(segment))
  }
  const decoded = recordReader(database)
  const read = (key: string): Trajectory | undefined => {
    const found = decoded(key)
    if (typeof found === 'string') throw new StoreError(`the stored trajectory ${key} is damaged: ${found}`)
    return found
  }
  const update = (key: string, trajectory: Trajectory, from: number) =>
    transaction(database, () => {
      const runningIn = trajectory.outcome.kind === 'running' ? processId : null
      updateRow(database, 'trajectories', key, { running_in: runningIn, ...recordColumns(trajectory) })
      updateRow(database, 'headers', key, { header: headerText(trajectory) })
      statements.countRevision.run(key)
      writeSegments(key, trajectory.segments, from)
      searchIndex.write(key, recordIndex(trajectory, from), from)
    })
  const freeKey = (trajectory: Trajectory): { readonly key: string; readonly isStored: boolean } => {
    let text: string | undefined
    const base = keyOf(trajectory.id)
    for (let n = 1; ; n++) {
      const key = n === 1 ? base : `${base}~${n}`
      const stored = decoded(key)
      if (typeof stored !== 'object') statements.dropDeleted.run(key)
      else {
        text ??= encode(trajectory)
        if (encode(stored) === text) return { key, isStored: true }
      }
      if (!statements.present.get(key)) return { key, isStored: false }
    }
  }
  const add = (trajectory: Trajectory, runningIn: number | null): string => {
    const { key, isStored } = freeKey(trajectory)
    if (isStored) {
      statements.undelete.run(key)
      return key
    }
    insertRow(database, 'trajectories', {
      key,
      added_at: now().toISOString(),
      running_in: runningIn,
      ...recordColumns(trajectory),
      ...labelColumns(labelsOf(trajectory)),
    })
    insertRow(database, 'headers', { key, header: headerText(trajectory) })
    writeSegments(key, trajectory.segments, 0)
    searchIndex.write(key, recordIndex(trajectory), 0)
    return key
  }
  const shown = (key: string): TrajectorySummary | undefined => {
    const row = statements.summary.get(key)
    return row && summary(row)
  }
  return {
    add: (trajectory, { runsHere } = { runsHere: false }) =>
      transaction(database, () => add(trajectory, runsHere ? processId : null)),
    addAll: (trajectories) => transaction(database, () => trajectories.map((trajectory) => add(trajectory, null))),
    update,
    get: (key) => (statements.summary.get(key) ? read(key) : undefined),
    label: (key, change) =>
      transaction(database, () => {
        const row = statements.summary.get(key)
        if (!row) return undefined
        updateRow(database, 'trajectories', key, {
          ...labelColumns(changedLabels(labelsIn(row), change)),
          // What somebody gave by hand is not what a rule found.
          ...(change.reward !== undefined && { reward_why: null }),
        })
        return shown(key)
      }),
    list: (query) => list(database, query),
    choices: () => choices(database),
    remove: (key) =>
      transaction(database, () => {
        const row = statements.summary.get(key)
        if (!row) return 'absent'
        if (row.running_in !== null) return 'running'
        statements.delete.run(now().getTime(), key)
        return 'removed'
      }),
    restore(key) {
      statements.undelete.run(key)
      return shown(key)
    },
    isDeleted: (key) => statements.present.get(key) !== undefined && statements.summary.get(key) === undefined,
    ...health,
    ...createGroupStore(database),
    close: () => database.close(),
    markInterrupted(isAlive) {
      for (const { key, running_in } of statements.running.all()) {
        if (isAlive(Number(running_in))) continue
        try {
          const trajectory = read(String(key))
          if (trajectory)
            update(
              String(key),
              { ...trajectory, outcome: { kind: 'ended', reason: 'interrupted' } },
              trajectory.segments.length,
            )
        } catch (error) {
          // One that cannot be read must not keep the others from being opened; opening it says what is wrong with it.
          if (!(error instanceof StoreError)) throw error
          statements.leave.run(String(key))
        }
      }
    },
    purge(before) {
      statements.purge.run(before)
      statements.dropGroups.run()
    },
  }
}

function prepared(database: DatabaseSync) {
  return {
    putSegment: database.prepare('INSERT OR REPLACE INTO segments (key, position, segment) VALUES (?, ?, ?)'),
    dropSegments: database.prepare('DELETE FROM segments WHERE key = ? AND position >= ?'),
    summary: database.prepare(
      `SELECT ${SUMMARY_COLUMNS}, running_in FROM trajectories WHERE key = ? AND deleted_at IS NULL`,
    ),
    delete: database.prepare('UPDATE trajectories SET deleted_at = ? WHERE key = ?'),
    undelete: database.prepare('UPDATE trajectories SET deleted_at = NULL WHERE key = ?'),
    present: database.prepare('SELECT 1 FROM trajectories WHERE key = ?'),
    dropDeleted: database.prepare('DELETE FROM trajectories WHERE key = ? AND deleted_at IS NOT NULL'),
    purge: database.prepare('DELETE FROM trajectories WHERE deleted_at < ? AND running_in IS NULL'),
    dropGroups: database.prepare(
      'DELETE FROM groups WHERE id NOT IN (SELECT group_id FROM trajectories WHERE group_id IS NOT NULL)',
    ),
    running: database.prepare('SELECT key, running_in FROM trajectories WHERE running_in IS NOT NULL'),
    countRevision: database.prepare('UPDATE trajectories SET revision = revision + 1 WHERE key = ?'),
    leave: database.prepare(
      "UPDATE trajectories SET running_in = NULL, outcome_kind = 'ended', outcome = 'interrupted' WHERE key = ?",
    ),
  }
}

/** An id may be any text; a key stands in addresses, where some texts mean something else or nothing. */
const keyOf = (id: string): string => (/^\.{1,2}$/.test(id) ? `id${id}` : id.toWellFormed())

/** All but the segments and the labels, which are kept apart. */
function headerText(trajectory: Trajectory): string {
  const { segments: _, ...header } = withLabels(trajectory, {})
  return JSON.stringify(header)
}
