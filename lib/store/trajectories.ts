/** Stores trajectories in SQLite. A closed segment is on disk before it is announced. */
import path from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type FilterChoices, KEPT_DELETED_MS, type Neighbours, type TrajectorySummary } from '#lib/api/library.ts'
import { outcomeWord } from '#lib/api/sample-progress.ts'
import { changedLabels, type LabelChange, type Labels } from '#lib/trajectory/format/labels.ts'
import type { Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { DATABASE_FILE, openDatabase } from './database.ts'
import { labelColumns, labelsIn, recordColumns, SUMMARY_COLUMNS, summary, visibleLabelsIn } from './entry.ts'
import { createEstimateTable, type EstimateTable } from './estimates.ts'
import { type Instance, openInstance } from './files/instance.ts'
import { createGroupCommit, type GroupCommit } from './group-commit.ts'
import { createGroupTable, type GroupTable } from './groups.ts'
import { createHealthStore, type HealthStore } from './health.ts'
import { createInserter, headerText } from './insert.ts'
import { filterChoices } from './listing/choices.ts'
import { type ListQuery, list, neighbours, type Page, type PlaceQuery } from './listing/listing.ts'
import { createSearchIndex, generatedTexts } from './listing/search-index.ts'
import { whenUnlocked } from './lock.ts'
import { type PackedCopy, packedReader } from './packed.ts'
import { recordReader } from './record.ts'
import { updateRow } from './row.ts'
import { createSessionTable, type SessionTable } from './sessions/session-table.ts'
import { damagedRecord, isDamagedRecord, storeErrorsOf, withStoreErrors } from './store-error.ts'
import { transaction } from './transaction.ts'

/** Stored trajectories with their labels, groups, value estimates and health. Every function throws StoreError if the database or its disk fails. */
export interface TrajectoryStore
  extends Omit<HealthStore, 'revision'>,
    GroupTable,
    EstimateTable,
    SessionTable,
    Pick<GroupCommit, 'groupCommit' | 'commitNow'> {
  /**
   * Stores a trajectory under its id. If another trajectory has that id, the key gets a suffix and the trajectory stays
   * unchanged. An equal deleted one is restored. One that cannot be read counts as different, or is replaced if it was
   * deleted. `runsHere` means that this instance will continue it; if the instance ends without finishing it, it is
   * interrupted.
   */
  add(trajectory: Trajectory, origin?: { readonly runsHere: boolean }): string
  /** Stores all of them or none. */
  addAll(trajectories: readonly Trajectory[], origin?: { readonly runsHere: boolean }): readonly string[]
  /**
   * Stores the changes of a run: everything except the labels and the segments before `from`. The segments before `generatedFrom`, by
   * default `from`, have the tokens that they had, so that they stay in the search index. An end that cannot be written is shown until it
   * can.
   */
  update(key: string, trajectory: Trajectory, from: number, generatedFrom?: number): void
  /** Returns the trajectory; undefined if it does not exist or is deleted. */
  get(key: string): Trajectory | undefined
  /** Returns the trajectory, also a deleted one that is not purged yet; undefined if it does not exist. */
  getWithDeleted(key: string): Trajectory | undefined
  /** Returns the packed copy of a long record. Undefined if there is none of the current revision: `get` reads the record itself. */
  packed(key: string): PackedCopy | undefined
  /**
   * Returns whether another thread should read the trajectory, because reading and writing it takes longer than other requests should
   * wait. False if it does not exist or is deleted, and if another thread could not read its end. `isOneOfMany` counts a short record as long.
   */
  isLong(key: string, isOneOfMany?: boolean): boolean
  /** Returns the row of a trajectory; undefined if it does not exist or is deleted. */
  row(key: string): TrajectorySummary | undefined
  /** Returns how often the record was written; undefined if it does not exist or is deleted. */
  revision(key: string): number | undefined
  /** Returns the labels, without notes on tokens that a repair has removed; undefined if the trajectory does not exist or is deleted. */
  labels(key: string): Labels | undefined
  /**
   * Changes labels, also during a run. A function receives all stored labels; no other change comes between, and an error that it throws
   * leaves them unchanged. Returns undefined if the trajectory does not exist or is deleted.
   */
  label(key: string, change: LabelChange | ((labels: Labels) => LabelChange)): TrajectorySummary | undefined
  /** Returns the rows of trajectories with an id, and of those that were forked from it. Deleted ones are left out. */
  related(id: string): { readonly own: readonly TrajectorySummary[]; readonly forks: readonly TrajectorySummary[] }
  list(query: ListQuery): Page
  /** Returns the rows next to a trajectory in a list; undefined if it does not exist or is deleted. */
  neighbours(key: string, query: PlaceQuery): Neighbours | undefined
  /** Returns the values to filter by. */
  choices(): FilterChoices
  /** Hides a trajectory unless it is running. Trajectories deleted for more than a day are purged at the next start. */
  remove(key: string): 'removed' | 'running' | 'absent'
  /** Restores a deleted trajectory. Returns undefined if there is none. */
  restore(key: string): TrajectorySummary | undefined
  isDeleted(key: string): boolean
  /** Returns whether another live instance runs it. */
  runsElsewhere(key: string): boolean
  /**
   * Resolves when the next write need not wait for another program, which would block the process. Throws StoreError when the database has
   * been locked for as long as a write waits.
   */
  whenUnlocked(): Promise<void>
  close(): void
}

interface StoreOptions {
  readonly now: () => Date
  /** How long to wait for another writer, in milliseconds. */
  readonly lockTimeoutMs?: number
  /** The registered instance of the process. Omitted: the store registers one. */
  readonly instance?: Instance | undefined
  /** Receives the connection; tests use it to limit the file. */
  readonly onOpened?: (database: DatabaseSync) => void
}

/**
 * Opens the store and marks runs of dead instances as interrupted. Every function throws StoreError if the database or
 * its disk fails; this one also for a database of a newer version.
 */
export function openTrajectoryStore(folder: string, options: StoreOptions): TrajectoryStore {
  const { now, lockTimeoutMs, onOpened } = options
  const file = path.join(folder, DATABASE_FILE)
  return withStoreErrors(file, () => {
    const database = openDatabase(file, lockTimeoutMs)
    let registered: Instance | undefined
    try {
      onOpened?.(database)
      const instance = options.instance ?? register(database, folder).instance
      registered = instance === options.instance ? undefined : instance
      const { markInterrupted, purge, ...store } = createStore(database, instance, now)
      markInterrupted()
      purge(now().getTime())
      return storeErrorsOf(store, file)
    } catch (error) {
      registered?.close()
      database.close()
      throw error
    }
  })
}

interface Registration {
  readonly instance: Instance
  /** Files of the other instances that use the folder. */
  readonly others: readonly string[]
}

/** Registers this process in the data folder before its store is opened. Throws StoreError. */
export function registerInstance(folder: string): Registration {
  const file = path.join(folder, DATABASE_FILE)
  return withStoreErrors(file, () => {
    const database = openDatabase(file)
    try {
      return register(database, folder)
    } finally {
      database.close()
    }
  })
}

/** Registers in a transaction, so that no other instance can start at the same time. */
const register = (database: DatabaseSync, folder: string): Registration =>
  transaction(database, () => {
    const instance = openInstance(folder)
    return { instance, others: instance.removeDead() }
  })

interface OpenedStore extends TrajectoryStore {
  markInterrupted(): void
  /** Purges trajectories that were deleted for more than a day at this time, in ms. */
  purge(nowMs: number): void
}

function createStore(database: DatabaseSync, instance: Instance, now: () => Date): OpenedStore {
  const statements = prepareStatements(database)
  const { insert, writeSegments } = createInserter(database, now)
  /** Ends of runs that could not be written, by key. */
  const unwritten = new Map<string, Outcome>()
  const { revision, ...health } = createHealthStore(database)
  const searchIndex = createSearchIndex(database)
  const decoded = recordReader(database)
  const packed = packedReader(database)
  const read = (key: string): Trajectory | undefined => {
    const found = decoded(key)
    if (typeof found === 'string') throw damagedRecord(key, found)
    const outcome = unwritten.get(key)
    return found && outcome ? { ...found, outcome } : found
  }
  const write = (key: string, trajectory: Trajectory, from: number, generatedFrom = from) =>
    transaction(database, () => {
      const runningIn = trajectory.outcome.kind === 'running' ? instance.id : null
      // The source is set when it is added: an imported Rollscope file records a rollout.
      const { source: _, import_format: __, ...columns } = recordColumns(trajectory)
      updateRow(database, 'trajectories', key, { running_in: runningIn, ...columns })
      updateRow(database, 'headers', key, { header: headerText(trajectory) })
      statements.countRevision.run(key)
      writeSegments(key, trajectory.segments, from)
      searchIndex.write(key, generatedTexts(trajectory, generatedFrom), generatedFrom)
    })
  const update: TrajectoryStore['update'] = (key, trajectory, from, generatedFrom) => {
    try {
      write(key, trajectory, from, generatedFrom)
      unwritten.delete(key)
    } catch (error) {
      if (trajectory.outcome.kind !== 'running') unwritten.set(key, trajectory.outcome)
      throw error
    }
  }
  const runsElsewhere = (runningIn: unknown): boolean => {
    const owner = Number(runningIn ?? instance.id)
    return owner !== instance.id && instance.isAlive(owner)
  }
  const interrupt = (key: string) => {
    try {
      const trajectory = read(key)
      if (trajectory) write(key, { ...trajectory, outcome: interruptedOutcome(trajectory) }, trajectory.segments.length)
    } catch (error) {
      // A trajectory that cannot be read must not prevent others from opening; opening it reports the error.
      if (!isDamagedRecord(error)) throw error
      statements.leave.run(key)
    }
  }
  /** Returns the row after a run of a dead instance was marked. */
  const settledRow = (key: string) => {
    const row = statements.summary.get(key)
    const owner = row?.running_in ?? null
    if (owner === null || owner === instance.id || runsElsewhere(owner)) return row
    interrupt(key)
    return statements.summary.get(key)
  }
  const ended = (row: TrajectorySummary): TrajectorySummary => {
    const outcome = unwritten.get(row.key)
    return outcome ? { ...row, outcomeKind: outcome.kind, outcome: outcomeWord(outcome) } : row
  }
  const row = (key: string) => (settledRow(key) ? summaryOf(key) : undefined)
  const add = (trajectory: Trajectory, runningIn: number | null): string => {
    const { key, isNew } = insert(trajectory, { running_in: runningIn })
    if (!isNew) statements.undelete.run(key)
    return key
  }
  const summaryOf = (key: string): TrajectorySummary | undefined => {
    const row = statements.summary.get(key)
    return row && ended(summary(row))
  }
  const groups = createGroupTable(database)
  const { groupCommit, commitNow, commitWaiting } = createGroupCommit(database)
  return {
    add: (trajectory, { runsHere } = { runsHere: false }) =>
      transaction(database, () => add(trajectory, runsHere ? instance.id : null)),
    addAll: (trajectories, { runsHere } = { runsHere: false }) =>
      transaction(database, () => trajectories.map((trajectory) => add(trajectory, runsHere ? instance.id : null))),
    update,
    get: (key) => (settledRow(key) ? read(key) : undefined),
    getWithDeleted: read,
    isLong: (key, isOneOfMany = false) =>
      !unwritten.has(key) && settledRow(key) !== undefined && (isOneOfMany || statements.long.get(key) !== undefined),
    row,
    revision: (key) => (statements.summary.get(key) ? revision(key)?.revision : undefined),
    packed: (key) => (unwritten.has(key) ? undefined : packed(key)),
    labels(key) {
      const row = statements.summary.get(key)
      return row && visibleLabelsIn(row)
    },
    label: (key, changeOf) =>
      transaction(database, () => {
        const row = statements.summary.get(key)
        if (!row) return undefined
        const labels = labelsIn(row)
        const change = typeof changeOf === 'function' ? changeOf(labels) : changeOf
        updateRow(database, 'trajectories', key, {
          ...labelColumns(changedLabels(labels, change)),
          // A reward set by hand has no reason of a rule.
          ...(change.reward !== undefined && { reward_why: null }),
        })
        return summaryOf(key)
      }),
    related: (id) => ({
      own: statements.byId.all(id).map((row) => ended(summary(row))),
      forks: statements.forks.all(id).map((row) => ended(summary(row))),
    }),
    list(query) {
      const page = list(database, query)
      return { ...page, rows: page.rows.map(ended) }
    },
    neighbours: (key, query) => neighbours(database, key, query),
    choices: () => filterChoices(database),
    remove(key) {
      settledRow(key)
      return transaction(database, () => {
        const row = statements.summary.get(key)
        if (!row) return 'absent'
        if (row.running_in !== null && !unwritten.has(key)) return 'running'
        statements.delete.run(now().getTime(), key)
        return 'removed'
      })
    },
    restore(key) {
      statements.undelete.run(key)
      return summaryOf(key)
    },
    isDeleted: (key) => statements.present.get(key) !== undefined && statements.summary.get(key) === undefined,
    runsElsewhere: (key) => runsElsewhere(statements.summary.get(key)?.running_in),
    ...health,
    ...groups,
    ...createEstimateTable(database, instance),
    ...createSessionTable(database, instance),
    groupRows: (id) =>
      groups
        .groupRows(id)
        .map((sample) => (sample.outcomeKind === 'running' ? (row(sample.key) ?? sample) : ended(sample))),
    groupCommit,
    commitNow,
    whenUnlocked: () => whenUnlocked(database),
    close() {
      commitWaiting()
      database.close()
      instance.close()
    },
    markInterrupted() {
      for (const { key, running_in } of statements.running.all()) if (!runsElsewhere(running_in)) interrupt(String(key))
    },
    purge(nowMs) {
      statements.purge.run(nowMs - KEPT_DELETED_MS, nowMs - LONGEST_PAUSE_MS)
      for (const statement of statements.dropGroups) statement.run()
      statements.dropChoices.run()
    },
  }
}

/** Returns the outcome of a run whose process has ended. Its messages that no server has read can be sent again. */
function interruptedOutcome({ outcome: { unsent, unsentGiven } }: Trajectory): Outcome {
  return { kind: 'ended', reason: 'interrupted', ...(unsent && { unsent }), ...(unsentGiven && { unsentGiven }) }
}

/**
 * Longest time in which nothing was added or deleted before the clock counts as wrong. A start with such a clock purges nothing, because
 * the day in which a deletion can be undone may not have passed.
 */
const LONGEST_PAUSE_MS = 30 * KEPT_DELETED_MS

/** A record with more tokens is long: reading and writing one of 50,000 tokens takes a quarter of a second. */
const MOST_TOKENS = 50_000
/** A record with a longer header is long: a megabyte of fields that the format does not know takes a quarter of a second. */
const MOST_HEADER_BYTES = 1 << 20

function prepareStatements(database: DatabaseSync) {
  return {
    summary: database.prepare(
      `SELECT ${SUMMARY_COLUMNS}, running_in FROM trajectories WHERE key = ? AND deleted_at IS NULL`,
    ),
    byId: database.prepare(
      `SELECT ${SUMMARY_COLUMNS} FROM trajectories WHERE id = ? AND deleted_at IS NULL ORDER BY sequence`,
    ),
    forks: database.prepare(
      `SELECT ${SUMMARY_COLUMNS} FROM trajectories WHERE forked_from = ? AND deleted_at IS NULL ORDER BY sequence`,
    ),
    delete: database.prepare('UPDATE trajectories SET deleted_at = ? WHERE key = ?'),
    undelete: database.prepare('UPDATE trajectories SET deleted_at = NULL WHERE key = ?'),
    long: database.prepare(
      `SELECT 1 FROM trajectories JOIN headers USING (key)
       WHERE key = ? AND (tokens > ${MOST_TOKENS} OR octet_length(header) > ${MOST_HEADER_BYTES})`,
    ),
    present: database.prepare('SELECT 1 FROM trajectories WHERE key = ?'),
    purge: database.prepare(
      `DELETE FROM trajectories WHERE deleted_at < ?1 AND running_in IS NULL
       AND ?2 < (SELECT max(coalesce(unixepoch(max(added_at)) * 1000, 0), max(deleted_at)) FROM trajectories)`,
    ),
    dropGroups: ['groups', 'group_starts'].map((table) =>
      database.prepare(
        `DELETE FROM ${table} WHERE id NOT IN (SELECT group_id FROM trajectories WHERE group_id IS NOT NULL)`,
      ),
    ),
    // Triggers leave a count of 0 of a value that no row has any more.
    dropChoices: database.prepare('DELETE FROM choices WHERE count = 0'),
    running: database.prepare('SELECT key, running_in FROM trajectories WHERE running_in IS NOT NULL'),
    countRevision: database.prepare('UPDATE trajectories SET revision = revision + 1 WHERE key = ?'),
    leave: database.prepare(
      "UPDATE trajectories SET running_in = NULL, outcome_kind = 'ended', outcome = 'interrupted' WHERE key = ?",
    ),
  }
}
