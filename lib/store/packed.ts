/**
 * Packed copies of long records, so that reading one parses no column. The record itself stays the truth: a copy belongs to one
 * revision, has a checksum, and may be missing.
 */
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import type { Labels } from '#lib/trajectory/format/labels.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { PACKED_VERSION, packedBytes, readPackedBytes } from '#lib/trajectory/tokens/packed-bytes.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { DATABASE_FILE, LOCK_TIMEOUT_MS, openDatabase } from './database.ts'
import { visibleLabelsIn } from './entry.ts'
import type { RecordRevision } from './health.ts'
import { openTrajectoryReader } from './record.ts'
import { storeErrorsOf, withStoreErrors } from './store-error.ts'

/** Returns whether a copy of a trajectory with so many tokens saves time that a person notices. */
export const isWorthPacking = (tokens: number): boolean => tokens >= FEWEST_TOKENS

const FEWEST_TOKENS = 10_000

/** The packed copy of a record. */
export interface PackedCopy {
  readonly labels: Labels
  /** The record without its labels, as packed-bytes.ts reads it. */
  readonly bytes: Uint8Array
}

const CURRENT = `packed.key = trajectories.key AND packed.revision = trajectories.revision AND packed.version = ${PACKED_VERSION}`

/** Returns a reader of copies: undefined if there is no undamaged copy of the current revision. Running records have none. */
export function packedReader(database: DatabaseSync): (key: string) => PackedCopy | undefined {
  const copy = database.prepare(
    `SELECT labels, tokens, checksum, bytes FROM trajectories JOIN packed ON ${CURRENT}
     WHERE trajectories.key = ? AND deleted_at IS NULL AND running_in IS NULL`,
  )
  return (key) => {
    const row = copy.get(key)
    const bytes = row?.bytes
    return bytes instanceof Uint8Array && crc32(bytes) === row?.checksum
      ? { labels: visibleLabelsIn(row), bytes }
      : undefined
  }
}

/** Writes copies for another thread than that of the store. */
export interface PackedWriter {
  /** Stores the copy of a record that is worth it, unless the record has changed since this revision. */
  write(key: string, of: RecordRevision, trajectory: Trajectory): void
  close(): void
}

/** Opens a writer. The folder's database must exist. Throws StoreError, like its functions. */
export function openPackedWriter(folder: string): PackedWriter {
  const file = path.join(folder, DATABASE_FILE)
  const database = withStoreErrors(file, () => openDatabase(file))
  const read = packedReader(database)
  const put = database.prepare(
    `INSERT OR REPLACE INTO packed (key, revision, version, checksum, bytes)
     SELECT key, revision, ${PACKED_VERSION}, $checksum, $bytes FROM trajectories
     WHERE key = $key AND sequence = $sequence AND revision = $revision AND running_in IS NULL`,
  )
  const writer: PackedWriter = {
    write(key, of, trajectory) {
      if (!isWorthPacking(tokenCount(trajectory)) || read(key)) return
      const bytes = packedBytes(trajectory)
      put.run({ key, ...of, checksum: crc32(bytes), bytes })
    },
    close: () => database.close(),
  }
  return storeErrorsOf(writer, file)
}

/** A record as `ViewReader` reads it. */
export interface StoredView {
  /** The record, or the reason why it cannot be read. */
  readonly found: TrajectoryView | string
  /** True if a packed copy would make reading it faster, and there is none. */
  readonly lacksCopy: boolean
}

/** Reads records for another thread than that of the store, from their packed copies where there are any. */
export interface ViewReader {
  /** Returns undefined if there is no record with this key. The labels of a packed record are left out. */
  read(key: string): StoredView | undefined
  close(): void
}

/** Opens such a reader. The folder's database must exist. Throws StoreError, like its functions. */
export function openViewReader(folder: string): ViewReader {
  const file = path.join(folder, DATABASE_FILE)
  const records = openTrajectoryReader(folder)
  const database = withStoreErrors(file, () => new DatabaseSync(file, { readOnly: true, timeout: LOCK_TIMEOUT_MS }))
  const copyOf = packedReader(database)
  const reader: ViewReader = {
    read(key) {
      const bytes = copyOf(key)?.bytes
      const view = bytes && readPackedBytes(bufferOf(bytes))?.trajectory
      if (view) return { found: view, lacksCopy: false }
      const found = records.read(key)?.found
      if (found === undefined || typeof found === 'string')
        return found === undefined ? undefined : { found, lacksCopy: false }
      return { found, lacksCopy: found.outcome.kind !== 'running' && isWorthPacking(tokenCount(found)) }
    },
    close() {
      database.close()
      records.close()
    },
  }
  return storeErrorsOf(reader, file)
}

/** Returns a buffer with exactly these bytes, without a copy if it has no others. */
const bufferOf = (bytes: Uint8Array): ArrayBuffer =>
  bytes.buffer instanceof ArrayBuffer && bytes.buffer.byteLength === bytes.byteLength
    ? bytes.buffer
    : new Uint8Array(bytes).buffer
