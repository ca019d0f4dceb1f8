/** A stored record put together from its rows; for another thread also over a connection of its own. */
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { decodeValue } from '#lib/core/codec.ts'
import { violationText } from '#lib/core/schema-violation.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { DATABASE_FILE } from './database.ts'
import { labelsIn } from './entry.ts'
import { createHealthStore, type Revision } from './health.ts'

/** The trajectory, or what is wrong with it; undefined where there is none. Deleted ones too. */
export function recordReader(database: DatabaseSync): (key: string) => Trajectory | string | undefined {
  const record = database.prepare('SELECT labels, header FROM trajectories JOIN headers USING (key) WHERE key = ?')
  const segments = database.prepare('SELECT segment FROM segments WHERE key = ? ORDER BY position')
  return (key) => {
    const row = record.get(key)
    return row && decodeParts(row, segments.all(key))
  }
}

export interface TrajectoryReader {
  /** What it was read as, and which of its revisions that is. Undefined where there is none. */
  read(key: string): { readonly of: Revision; readonly found: Trajectory | string } | undefined
  close(): void
}

/** Reads what another thread writes. The file must be there. */
export function openTrajectoryReader(folder: string): TrajectoryReader {
  const database = new DatabaseSync(path.join(folder, DATABASE_FILE), { readOnly: true, timeout: 5000 })
  const { revision } = createHealthStore(database)
  const decoded = recordReader(database)
  return {
    read(key) {
      // In one transaction: the record does not change between its rows.
      database.exec('BEGIN')
      try {
        const of = revision(key)
        const found = decoded(key)
        return of && found !== undefined ? { of, found } : undefined
      } finally {
        database.exec('COMMIT')
      }
    },
    close: () => database.close(),
  }
}

type Row = Readonly<Record<string, unknown>>

function decodeParts(record: Row, segments: readonly Row[]): Trajectory | string {
  try {
    const decoded = decodeValue({
      ...JSON.parse(String(record.header)),
      ...labelsIn(record),
      segments: segments.map(({ segment }) => JSON.parse(String(segment))),
    })
    return decoded.ok ? decoded.trajectory : violationText(decoded.error)
  } catch (error) {
    if (error instanceof SyntaxError) return error.message
    throw error
  }
}
