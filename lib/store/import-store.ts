/**
 * The connection of an import, for a thread beside the server's. An import stores in several short transactions, between
 * which others write: until it is published, what it has stored is hidden as deleted trajectories are.
 */
import path from 'node:path'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { DATABASE_FILE, openDatabase } from './database.ts'
import { createInserter, type Inserted } from './insert.ts'
import { storeErrorsOf, withStoreErrors } from './store-error.ts'
import { transaction } from './transaction.ts'

export interface ImportStore {
  /** Stores them hidden, in one transaction. Those that are stored already stay as they are. */
  add(trajectories: readonly Trajectory[]): readonly Inserted[]
  /** Shows all of an import at once, in one transaction. Those that were deleted are restored. */
  publish(keys: readonly string[]): void
  /** Deletes what was added and not published. What an interrupted import leaves is deleted a day later, as deleted trajectories are. */
  discard(keys: readonly string[]): void
  close(): void
}

/** Rows deleted in one transaction. */
const DISCARDED_AT_ONCE = 20

/** The folder's database must be there. Every function throws StoreError where the database or its disk fails. */
export function openImportStore(folder: string, now: () => Date): ImportStore {
  const file = path.join(folder, DATABASE_FILE)
  const database = withStoreErrors(file, () => openDatabase(file))
  const { insert } = createInserter(database, now)
  const show = database.prepare('UPDATE trajectories SET deleted_at = NULL WHERE key = ?')
  const drop = database.prepare('DELETE FROM trajectories WHERE key = ? AND deleted_at IS NOT NULL')
  const store: ImportStore = {
    add: (trajectories) =>
      transaction(database, () =>
        trajectories.map((trajectory) =>
          insert(trajectory, { ...importColumns(trajectory), deleted_at: now().getTime() }),
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

/** A file of Rollscope says how its trajectory was recorded; the library says that it was imported. */
const importColumns = ({ provenance }: Trajectory) => ({
  source: 'import',
  import_format: provenance.kind === 'import' ? provenance.format : OWN_FORMAT,
})

/** Its name in lib/formats. */
const OWN_FORMAT = 'rollscope'
