/** Stores groups of samples: their rows and their reward rules. */
import type { DatabaseSync } from 'node:sqlite'
import * as z from 'zod/mini'
import { type ServerRefusal, serverRefusalSchema } from '#lib/api/group.ts'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { type RewardRule, rewardRuleSchema } from '#lib/trajectory/reward/rule.ts'
import type { RewardWithReason } from '#lib/trajectory/reward/score.ts'
import { labelColumns, labelsIn, SUMMARY_COLUMNS, summary } from './entry.ts'
import { updateRow } from './row.ts'
import { transaction } from './transaction.ts'

/** The samples with which a group began. */
interface GroupStart {
  readonly samples: number
  /** Servers that were refused before the run. */
  readonly refused: readonly ServerRefusal[]
}

/** Rows, reward rules and rewards of groups. */
export interface GroupTable {
  /** Returns the samples that are not deleted, by their index. */
  groupRows(id: string): readonly TrajectorySummary[]
  /** Returns a name that all samples of a group have and no others, also those of imported files; undefined if the trajectory has no group. */
  groupName(key: string): string | undefined
  /**
   * Returns the rewards of the samples with this name that are not deleted. Trajectories with the same index and reward are the paths of one
   * rollout, which counts once.
   */
  rewardsOfGroup(name: string): readonly (number | null)[]
  /** Returns how the group began; undefined if it was imported, or grows one by one. */
  groupStart(id: string): GroupStart | undefined
  /** Stores how a group began. */
  setGroupStart(id: string, start: GroupStart): void
  /** Returns the number of deleted samples that can be restored. */
  countDeletedSamples(id: string): number
  /** Returns the reward rule; undefined if there is none. */
  groupRule(id: string): RewardRule | undefined
  /** Stores the reward rule; undefined removes it. */
  setGroupRule(id: string, rule: RewardRule | undefined): void
  /** Stores the result of a rule as the reward of a trajectory; undefined removes it. A reward set by hand stays. */
  score(key: string, scored: RewardWithReason | undefined): void
}

const refusalsSchema = z.array(serverRefusalSchema)

/** Prepares the statements for groups on a connection. */
export function createGroupTable(database: DatabaseSync): GroupTable {
  const rows = database.prepare(
    `SELECT ${SUMMARY_COLUMNS} FROM trajectories WHERE group_id = ? AND deleted_at IS NULL ORDER BY group_index, sequence`,
  )
  const name = database.prepare(
    'SELECT coalesce(group_id, import_group) AS name FROM trajectories WHERE key = ? AND deleted_at IS NULL',
  )
  const rewards = database.prepare(
    `SELECT DISTINCT group_index, reward FROM trajectories
     WHERE (group_id = ?1 OR import_group = ?1) AND deleted_at IS NULL ORDER BY group_index`,
  )
  const rule = database.prepare('SELECT rule FROM groups WHERE id = ?')
  const putRule = database.prepare('INSERT OR REPLACE INTO groups (id, rule) VALUES (?, ?)')
  const dropRule = database.prepare('DELETE FROM groups WHERE id = ?')
  const startOf = database.prepare('SELECT samples, refused FROM group_starts WHERE id = ?')
  const putStart = database.prepare('INSERT OR REPLACE INTO group_starts (id, samples, refused) VALUES (?, ?, ?)')
  const deleted = database.prepare(
    'SELECT count(*) AS count FROM trajectories WHERE group_id = ? AND deleted_at IS NOT NULL',
  )
  const labels = database.prepare('SELECT labels, reward_why FROM trajectories WHERE key = ?')
  return {
    groupRows: (id) => rows.all(id).map(summary),
    groupName(key) {
      const found = name.get(key)?.name
      return typeof found === 'string' ? found : undefined
    },
    rewardsOfGroup: (name) => rewards.all(name).map(({ reward }) => (reward === null ? null : Number(reward))),
    groupStart(id) {
      const row = startOf.get(id)
      return row && { samples: Number(row.samples), refused: refusalsSchema.parse(JSON.parse(String(row.refused))) }
    },
    setGroupStart: (id, { samples, refused }) => void putStart.run(id, samples, JSON.stringify(refused)),
    countDeletedSamples: (id) => Number(deleted.get(id)?.count),
    groupRule(id) {
      const row = rule.get(id)
      return row && rewardRuleSchema.safeParse(JSON.parse(String(row.rule))).data
    },
    setGroupRule(id, given) {
      if (given) putRule.run(id, JSON.stringify(given))
      else dropRule.run(id)
    },
    score: (key, scored) =>
      transaction(database, () => {
        const row = labels.get(key)
        if (!row) return
        const { reward, ...others } = labelsIn(row)
        const isByHand = reward !== undefined && row.reward_why === null
        if (isByHand) return
        const updated = scored && scored.reward !== null ? { ...others, reward: scored.reward } : others
        updateRow(database, 'trajectories', key, { ...labelColumns(updated), reward_why: scored?.why ?? null })
      }),
  }
}
