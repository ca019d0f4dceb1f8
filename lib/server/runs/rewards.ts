/** Rewards samples by the rule of their group. */
import { setImmediate } from 'node:timers/promises'
import type { TrajectoryStore } from '#lib/store/trajectories.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { RewardRule } from '#lib/trajectory/reward/rule.ts'
import { scoreOf } from '#lib/trajectory/reward/score.ts'
import { searchPattern } from '../library/search-pattern.ts'
import { readableTrajectory } from '../library/trajectories.ts'

/** Rewards a run that has just ended, including a further turn of a sample; does nothing without a rule. */
export function rewardRun(key: string, record: Trajectory, store: TrajectoryStore): void {
  if (record.outcome.kind === 'running' || !record.group || record.provenance.kind === 'import') return
  const rule = store.groupRule(record.group.id)
  if (rule) store.score(key, scoreOf(record, rule, searchPattern))
}

/**
 * Rewards all ended samples of a group; a running one loses its reward and gets a new one when it ends. An undefined rule removes the
 * rewards. Rewards by hand stay.
 */
export async function rewardGroup(
  groupId: string,
  rule: RewardRule | undefined,
  store: TrajectoryStore,
): Promise<void> {
  store.setGroupRule(groupId, rule)
  for (const { key } of store.groupRows(groupId)) {
    // The trajectory is read only now, because the sample may have ended or continued in the meantime. A damaged one has no reward.
    const trajectory = rule && readableTrajectory(key, store)
    const hasEnded = trajectory && trajectory.outcome.kind !== 'running'
    store.score(key, rule && hasEnded ? scoreOf(trajectory, rule, searchPattern) : undefined)
    // A group may be large and a pattern slow, so other requests run in between.
    await setImmediate()
  }
}
