/**
 * Opens a database connection for an import in its own thread. An import stores in several short transactions, between
 * which others can write. Until it is published, its trajectories are hidden like deleted ones.
 */
import path from 'node:path'
import { hasSameJson } from '#lib/json/same-json.ts'
import { withLabels } from '#lib/trajectory/format/labels.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { DATABASE_FILE, openDatabase } from './database.ts'
import { createInserter, type InsertResult } from './insert.ts'
import { storeErrorsOf, withStoreErrors } from './store-error.ts'
import { transaction } from './transaction.ts'

/** The file that an import stores. */
export interface ImportedFile {
  /** Hash of its name and bytes. */
  readonly digest: string
  /** Ids that its records do not have, derived from the hash. */
  readonly derivedIds: ReadonlySet<string>
  /** Whether the import adds texts or ids with a tokenizer. */
  readonly isCompleted: boolean
}

/** Connection of an import. Keys are those that `add` returned. */
export interface ImportStore {
  /**
   * Stores hidden trajectories of a file in one transaction. Trajectories that exist already stay unchanged. One with a derived id is not
   * compared by its labels, which may have been changed since, and its time, which is that of the import. A record that was changed since,
   * such as by a tokenizer, is found by its id, unless it is deleted or this import names a tokenizer too.
   */
  add(trajectories: readonly Trajectory[], file: ImportedFile): readonly InsertResult[]
  /** Shows all trajectories of an import in one transaction. Deleted ones are restored. */
  publish(keys: readonly string[]): void
  /**
   * Deletes what was added and not published. The rest of an interrupted import is deleted a day later, like deleted
   * trajectories.
   */
  discard(keys: readonly string[]): void
  close(): void
}

/** Rows that one transaction deletes. */
const DISCARDED_AT_ONCE = 20

/**
 * Opens the connection. The folder's database must exist. Every function throws StoreError if the database or its disk
 * fails.
 */
export function openImportStore(folder: string, now: () => Date): ImportStore {
  const file = path.join(folder, DATABASE_FILE)
  const database = withStoreErrors(file, () => openDatabase(file))
  const { insert } = createInserter(database, now)
  const show = database.prepare('UPDATE trajectories SET deleted_at = NULL WHERE key = ?')
  const drop = database.prepare('DELETE FROM trajectories WHERE key = ? AND deleted_at IS NOT NULL')
  const changed = database.prepare(
    'SELECT 1 FROM trajectories WHERE key = ? AND revision > 0 AND deleted_at IS NULL AND import_format = ?',
  )
  const isSameRecord = (stored: Trajectory, record: Trajectory) =>
    hasSameJson(withoutChanges(stored), withoutChanges(record))
  const isSameOrChanged = (stored: Trajectory, record: Trajectory, key: string) =>
    (record.provenance.kind === 'import' && changed.get(key, record.provenance.format) !== undefined) ||
    isSameRecord(stored, record)
  const store: ImportStore = {
    add: (trajectories, { digest, derivedIds, isCompleted }) =>
      transaction(database, () =>
        trajectories.map((trajectory) =>
          insert(
            trajectory,
            { ...importColumns(trajectory, digest), deleted_at: now().getTime() },
            derivedIds.has(trajectory.id) ? (isCompleted ? isSameRecord : isSameOrChanged) : undefined,
          ),
        ),
      ),
    publish: (keys) =>
      transaction(database, () => {
        for (const key of keys) show.run(key)
      }),
    discard(keys) {
      for (let from = 0; from < keys.length; from += DISCARDED_AT_ONCE)
        transaction(database, () => {
          for (const key of keys.slice(from, from + DISCARDED_AT_ONCE)) drop.run(key)
        })
    },
    close: () => database.close(),
  }
  return storeErrorsOf(store, file)
}

/** A Rollscope file contains its original provenance; the library lists it as imported. */
const importColumns = ({ provenance, group }: Trajectory, digest: string) => ({
  source: 'import',
  ...(provenance.kind === 'import'
    ? {
        import_format: provenance.format,
        // The same id in another file, also in one of the same name, is another group. Archives contain several files.
        import_group: group ? JSON.stringify([digest, provenance.file ?? null, group.id]) : null,
      }
    : { import_format: OWN_FORMAT }),
})

/** Name of the format in lib/formats. */
const OWN_FORMAT = 'rollscope'

/** Returns a trajectory without what may differ from an equal one that was imported earlier. */
const withoutChanges = (trajectory: Trajectory): Trajectory => withLabels({ ...trajectory, createdAt: '' }, {})
