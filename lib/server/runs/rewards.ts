/** The rewards of samples, by the rule of their group. */
import { setImmediate } from 'node:timers/promises'
import { isDamagedRecord } from '#lib/store/store-error.ts'
import type { TrajectoryStore } from '#lib/store/trajectories.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { RewardRule } from '#lib/trajectory/reward/rule.ts'
import { scoreOf } from '#lib/trajectory/reward/score.ts'
import { searchPattern } from '../library/search-pattern.ts'

/** Of a run that has just ended, a further turn of a sample too; nothing where it has no rule. */
export function rewardRun(key: string, record: Trajectory, store: TrajectoryStore): void {
  if (record.outcome.kind === 'running' || !record.group || record.provenance.kind === 'import') return
  const rule = store.groupRule(record.group.id)
  if (rule) store.score(key, scoreOf(record, rule, searchPattern))
}

/**
 * Of all samples that have ended; those that run lose the reward of the rule before, and follow when they end. undefined
 * takes the rewards away. Those given by hand stay.
 */
export async function rewardGroup(
  groupId: string,
  rule: RewardRule | undefined,
  store: TrajectoryStore,
): Promise<void> {
  store.setGroupRule(groupId, rule)
  for (const { key } of store.groupRows(groupId)) {
    // Read at its turn: meanwhile a sample may have ended, or gone on.
    const trajectory = rule && readable(key, store)
    const hasEnded = trajectory && trajectory.outcome.kind !== 'running'
    store.score(key, rule && hasEnded ? scoreOf(trajectory, rule, searchPattern) : undefined)
    // A group may be large, and a pattern slow: others are served in between.
    await setImmediate()
  }
}

/** A damaged one has no reward and does not keep the others from theirs. */
function readable(key: string, store: TrajectoryStore): Trajectory | undefined {
  try {
    return store.get(key)
  } catch (error) {
    if (isDamagedRecord(error)) return undefined
    throw error
  }
}
