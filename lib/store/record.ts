/** Assembles a stored record from its rows; another thread can use its own connection. */
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { decodeValue } from '#lib/trajectory/format/codec.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { violationText } from '#lib/util/schema-violation.ts'
import { DATABASE_FILE, LOCK_TIMEOUT_MS } from './database.ts'
import { visibleLabelsIn } from './entry.ts'
import { createHealthStore, type RecordRevision } from './health.ts'
import { createSegmentReader } from './segments/segments.ts'
import { storeErrorsOf, withStoreErrors } from './store-error.ts'
import { readTransaction } from './transaction.ts'

/**
 * Creates a reader that returns the trajectory, an error text if it cannot be read, or undefined if it does not exist.
 * Deleted trajectories are included.
 */
export function recordReader(database: DatabaseSync): (key: string) => Trajectory | string | undefined {
  const record = database.prepare(
    'SELECT labels, tokens, header FROM trajectories JOIN headers USING (key) WHERE key = ?',
  )
  const segments = createSegmentReader(database)
  return (key) =>
    readTransaction(database, () => {
      const row = record.get(key)
      return row && decodeParts(row, () => segments(key))
    })
}

/** Reader of stored records for another thread. */
export interface TrajectoryReader {
  /** Returns the record and its revision, or undefined if it does not exist. */
  read(key: string): { readonly of: RecordRevision; readonly found: Trajectory | string } | undefined
  close(): void
}

/**
 * Opens a reader of the data that another thread writes. The file must exist. Throws StoreError, like its functions.
 */
export function openTrajectoryReader(folder: string): TrajectoryReader {
  const file = path.join(folder, DATABASE_FILE)
  return withStoreErrors(file, () => {
    const database = new DatabaseSync(file, { readOnly: true, timeout: LOCK_TIMEOUT_MS })
    const { revision } = createHealthStore(database)
    const decoded = recordReader(database)
    const reader: TrajectoryReader = {
      read(key) {
        return readTransaction(database, () => {
          const of = revision(key)
          const found = decoded(key)
          return of && found !== undefined ? { of, found } : undefined
        })
      },
      close: () => database.close(),
    }
    return storeErrorsOf(reader, file)
  })
}

type Row = Readonly<Record<string, unknown>>

function decodeParts(record: Row, segments: () => readonly unknown[]): Trajectory | string {
  try {
    const decoded = decodeValue({
      ...JSON.parse(String(record.header)),
      ...visibleLabelsIn(record),
      segments: segments(),
    })
    return decoded.ok ? decoded.trajectory : violationText(decoded.error)
  } catch (error) {
    if (error instanceof SyntaxError) return error.message
    throw error
  }
}
