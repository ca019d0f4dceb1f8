/** Stores value estimates: their plans and how they ended. Their samples are trajectories in groups. */
import type { DatabaseSync } from 'node:sqlite'
import type { Instance } from './files/instance.ts'
import { insertRow } from './row.ts'
import { transaction } from './transaction.ts'

/** How a value estimate is, or how it ended. */
type EstimateState = 'running' | 'done' | 'cancelled' | 'failed'

/** Why a value estimate failed. */
export interface EstimateFailure {
  readonly code: string
  readonly message: string
}

/** A stored value estimate. */
export interface StoredEstimate {
  readonly id: string
  /** Key of the trajectory. */
  readonly key: string
  /** ISO 8601. */
  readonly createdAt: string
  /** What it samples, as JSON. */
  readonly plan: string
  readonly state: EstimateState
  /** null: it did not fail. */
  readonly failure: EstimateFailure | null
}

/** Returns the group of the samples at a position of an estimate; `position` is an index in its positions. */
export const estimateGroupId = (id: string, position: number): string => `${id}-${position}`

/** Returns the id of the estimate whose samples a group may have. */
export const estimateOfGroup = (groupId: string): string => groupId.replace(/-\d+$/, '')

/** SQL condition: a row of `trajectories` is a sample of a stored estimate. */
export const IS_ESTIMATE_SAMPLE =
  "EXISTS (SELECT 1 FROM estimates WHERE estimates.id = rtrim(rtrim(group_id, '0123456789'), '-'))"

/** Value estimates. Like runs, those that run belong to an instance of the application. */
export interface EstimateTable {
  /** Stores an estimate that this instance runs. */
  addEstimate(estimate: Pick<StoredEstimate, 'id' | 'key' | 'createdAt' | 'plan'>): void
  /** Returns an estimate, also of a deleted trajectory; undefined if there is none. */
  estimate(id: string): StoredEstimate | undefined
  /** Returns the estimates of a trajectory, the latest first, at most `most`; all if it is omitted. None of a deleted trajectory. */
  estimatesOf(key: string, most?: number): readonly StoredEstimate[]
  /** Stores how an estimate ended. */
  endEstimate(id: string, state: Exclude<EstimateState, 'running'>, failure?: EstimateFailure): void
  /** Makes this instance the one that runs an estimate. Returns false if another living instance runs it. */
  claimEstimate(id: string): boolean
  /** Returns the estimates that are running, of instances that have ended. */
  abandonedEstimates(): readonly StoredEstimate[]
}

/** Prepares the statements for value estimates on a connection of an instance. */
export function createEstimateTable(database: DatabaseSync, instance: Pick<Instance, 'id' | 'isAlive'>): EstimateTable {
  const columns = `SELECT estimates.id, estimates.key, estimates.created_at, plan, state, failure, estimates.running_in
    FROM estimates JOIN trajectories ON trajectories.key = estimates.key WHERE deleted_at IS NULL`
  const one = database.prepare('SELECT * FROM estimates WHERE id = ?')
  const latest = database.prepare(`${columns} AND estimates.key = ? ORDER BY estimates.sequence DESC LIMIT ?`)
  const running = database.prepare(`${columns} AND estimates.running_in IS NOT NULL ORDER BY estimates.sequence`)
  const end = database.prepare('UPDATE estimates SET state = ?, failure = ?, running_in = NULL WHERE id = ?')
  const claim = database.prepare("UPDATE estimates SET state = 'running', failure = NULL, running_in = ? WHERE id = ?")
  const runsElsewhere = (owner: unknown): boolean => typeof owner === 'number' && instance.isAlive(owner)
  return {
    addEstimate: ({ id, key, createdAt, plan }) =>
      insertRow(database, 'estimates', {
        id,
        key,
        created_at: createdAt,
        plan,
        state: 'running',
        running_in: instance.id,
      }),
    estimate(id) {
      const row = one.get(id)
      return row && estimateIn(row)
    },
    estimatesOf: (key, most = NO_LIMIT) => latest.all(key, most).map(estimateIn),
    endEstimate(id, state, failure) {
      end.run(state, failure ? JSON.stringify(failure) : null, id)
    },
    claimEstimate: (id) =>
      transaction(database, () => {
        const row = one.get(id)
        if (!row || runsElsewhere(row.running_in)) return false
        claim.run(instance.id, id)
        return true
      }),
    abandonedEstimates: () =>
      running
        .all()
        .filter(({ running_in }) => running_in !== instance.id && !runsElsewhere(running_in))
        .map(estimateIn),
  }
}

/** SQLite's LIMIT that allows all rows. */
const NO_LIMIT = -1

const estimateIn = (row: Readonly<Record<string, unknown>>): StoredEstimate => ({
  id: String(row.id),
  key: String(row.key),
  createdAt: String(row.created_at),
  plan: String(row.plan),
  state: row.state as EstimateState,
  failure: row.failure === null ? null : (JSON.parse(String(row.failure)) as EstimateFailure),
})
