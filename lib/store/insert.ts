/** Inserts trajectories as database rows, for every connection that writes. */
import type { DatabaseSync } from 'node:sqlite'
import { hasSameJson } from '#lib/json/same-json.ts'
import { recordOf } from '#lib/trajectory/format/codec.ts'
import { labelsOf, withLabels } from '#lib/trajectory/format/labels.ts'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { labelColumns, recordColumns } from './entry.ts'
import { createSearchIndex, generatedTexts } from './listing/search-index.ts'
import { recordReader } from './record.ts'
import { insertRow, type StoredRow } from './row.ts'
import { createSegmentWriter } from './segments/segments.ts'

/** Result of an insertion: the key of the trajectory, and whether it is new. */
export interface InsertResult {
  readonly key: string
  /** False if an equal trajectory exists, also a deleted one. */
  readonly isNew: boolean
}

type IsSame = (stored: Trajectory, record: Trajectory, key: string) => boolean

interface Inserter {
  /**
   * Inserts a trajectory. `columns` are additional columns of its row. If another trajectory has the id, the key gets a suffix. `isSame`
   * returns whether a stored trajectory with this id is the same; by default everything must be equal.
   */
  insert(trajectory: Trajectory, columns: StoredRow, isSame?: IsSame): InsertResult
  /** Replaces the segments from this position on. */
  writeSegments(key: string, all: readonly Segment[], from: number): void
}

/** Creates the functions, which must be called in a transaction. */
export function createInserter(database: DatabaseSync, now: () => Date): Inserter {
  const writeSegments = createSegmentWriter(database)
  const present = database.prepare('SELECT 1 FROM trajectories WHERE key = ?')
  const dropDeleted = database.prepare('DELETE FROM trajectories WHERE key = ? AND deleted_at IS NOT NULL')
  const decoded = recordReader(database)
  const searchIndex = createSearchIndex(database)

  const freeKey = (trajectory: Trajectory, isSame: IsSame): InsertResult => {
    let record: Trajectory | undefined
    const base = keyOf(trajectory.id)
    for (let n = 1; ; n++) {
      const key = n === 1 ? base : `${base}~${n}`
      const stored = decoded(key)
      if (typeof stored !== 'object') dropDeleted.run(key)
      else {
        record ??= recordOf(trajectory)
        if (isSame(stored, record, key)) return { key, isNew: false }
      }
      if (!present.get(key)) return { key, isNew: true }
    }
  }

  return {
    insert(trajectory, columns, isSame = hasSameJson) {
      const free = freeKey(trajectory, isSame)
      if (!free.isNew) return free
      const { key } = free
      insertRow(database, 'trajectories', {
        key,
        added_at: now().toISOString(),
        ...recordColumns(trajectory),
        ...labelColumns(labelsOf(trajectory)),
        ...columns,
      })
      insertRow(database, 'headers', { key, header: headerText(trajectory) })
      writeSegments(key, trajectory.segments, 0)
      searchIndex.write(key, generatedTexts(trajectory), 0)
      return free
    },
    writeSegments,
  }
}

/** Returns the key of an id. An id may be any text, but a key is part of URLs, where some texts have a meaning. */
const keyOf = (id: string): string => (/^\.{1,2}$/.test(id) ? `id${id}` : id.toWellFormed())

/** Returns the JSON of a trajectory without its segments and labels, which are stored separately. */
export function headerText(trajectory: Trajectory): string {
  const { segments: _, ...header } = withLabels(trajectory, {})
  return JSON.stringify(header)
}
