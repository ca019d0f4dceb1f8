/**
 * Stores health results. A result belongs to one revision of a record: when a run continues or a tokenizer is chosen,
 * the record gets a new revision and the result is outdated.
 */
import type { DatabaseSync } from 'node:sqlite'
import {
  HEALTH_VERSION,
  type Health,
  type HealthSummary,
  healthSummary,
  worstSeverity,
} from '#lib/trajectory/health/health.ts'
import { createSearchIndex, type RecordIndex } from './listing/search-index.ts'
import { transaction } from './transaction.ts'

/** A revision of a record: its row, and how often it was written. */
export interface RecordRevision {
  readonly sequence: number
  readonly revision: number
}

/** Health filters of a list. drift: with or without other problems. lost: to the trainer's cut. */
export const HEALTH_FILTERS = ['problems', 'none', 'drift', 'unchecked', 'lost'] as const
/** Health filter of a list. */
export type HealthFilter = (typeof HEALTH_FILTERS)[number]

const CURRENT = `health.key = trajectories.key AND health.revision = trajectories.revision AND health.version = ${HEALTH_VERSION}`

/** The short result as a column of a row, or null if the current revision was not checked. */
export const HEALTH_COLUMN = `(SELECT gist FROM health WHERE ${CURRENT}) AS health`

/** Returns the SQL condition on rows of `trajectories` for a filter. */
export const healthCondition = (filter: Exclude<HealthFilter, 'lost'>): string => {
  const found = (condition: string) => `EXISTS (SELECT 1 FROM health WHERE ${CURRENT} AND ${condition})`
  switch (filter) {
    case 'problems':
      return found(`severity IN ('error', 'warning')`)
    case 'none':
      return found(`severity NOT IN ('error', 'warning')`)
    case 'drift':
      return found('has_drift = 1')
    case 'unchecked':
      return `NOT ${found('1')}`
  }
}

/** Returns the short result of a row with HEALTH_COLUMN; null if its current revision was not checked. */
export const healthGist = (row: Readonly<Record<string, unknown>>): HealthSummary | null =>
  typeof row.health === 'string' ? (JSON.parse(row.health) as HealthSummary) : null

/** Health results of stored trajectories. */
export interface HealthStore {
  /**
   * Returns the key of the newest record without a current result, of those that were added before the record with the key `after`.
   * Undefined: there is none. Running records wait.
   */
  uncheckedKey(after?: string): string | undefined
  /** Returns the result, or undefined if the current revision was not checked. */
  health(key: string): Health | undefined
  /**
   * Stores the result of a revision, unless the record has changed since. `index` is stored for records from before the
   * index existed.
   */
  putHealth(key: string, of: RecordRevision, health: Health, index?: RecordIndex): void
  /** Stores the result of the present revision, which could not be checked. */
  putUnchecked(key: string, health: Health): void
  revision(key: string): RecordRevision | undefined
}

/** Prepares the statements for health results on a connection. */
export function createHealthStore(database: DatabaseSync): HealthStore {
  const unchecked = database.prepare(
    `SELECT key FROM trajectories WHERE deleted_at IS NULL AND running_in IS NULL AND ${healthCondition('unchecked')}
     AND sequence < coalesce((SELECT sequence FROM trajectories WHERE key = ?), ${Number.MAX_SAFE_INTEGER}) ORDER BY sequence DESC LIMIT 1`,
  )
  const report = database.prepare(
    `SELECT report FROM health JOIN trajectories ON ${CURRENT} WHERE trajectories.key = ? AND deleted_at IS NULL`,
  )
  const put = database.prepare(
    `INSERT OR REPLACE INTO health (key, revision, version, severity, has_drift, gist, report)
     SELECT key, revision, ${HEALTH_VERSION}, $severity, $hasDrift, $gist, $report FROM trajectories
     WHERE key = $key AND sequence = $sequence AND revision = $revision AND running_in IS NULL`,
  )
  const unindexed = database.prepare('SELECT 1 FROM trajectories WHERE key = ? AND trained_spans IS NULL')
  const putSpans = database.prepare('UPDATE trajectories SET trained_spans = ? WHERE key = ?')
  const searchIndex = createSearchIndex(database)
  const revisionOf = database.prepare('SELECT sequence, revision FROM trajectories WHERE key = ?')
  const recordRevision = (key: string): RecordRevision | undefined => {
    const row = revisionOf.get(key)
    return row && { sequence: Number(row.sequence), revision: Number(row.revision) }
  }
  const putHealth: HealthStore['putHealth'] = (key, { sequence, revision }, health, index) =>
    transaction(database, () => {
      const { changes } = put.run({
        key,
        sequence,
        revision,
        severity: worstSeverity(health.findings) ?? 'none',
        hasDrift: Number(health.findings.some(({ kind }) => kind === 'drift')),
        gist: JSON.stringify(healthSummary(health)),
        report: JSON.stringify(health),
      })
      if (changes === 0 || !index || unindexed.get(key) === undefined) return
      searchIndex.write(key, index.texts, 0)
      putSpans.run(JSON.stringify(index.trainedSpans), key)
    })
  return {
    uncheckedKey(after = '') {
      const row = unchecked.get(after)
      return row && String(row.key)
    },
    health(key) {
      const row = report.get(key)
      return row && (JSON.parse(String(row.report)) as Health)
    },
    putHealth,
    putUnchecked(key, health) {
      const of = recordRevision(key)
      if (of) putHealth(key, of, health)
    },
    revision: recordRevision,
  }
}
