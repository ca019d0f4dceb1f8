/** Rewards samples by the rule of their group. */
import { setImmediate } from 'node:timers/promises'
import type { TrajectoryStore } from '#lib/store/trajectories.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { RewardRule } from '#lib/trajectory/reward/rule.ts'
import { scoreOf } from '#lib/trajectory/reward/score.ts'
import { inheritedRule } from '../branches/ancestors.ts'
import { searchPattern } from '../library/search-pattern.ts'
import { readableTrajectory } from '../library/trajectories.ts'

/**
 * Rewards a run that has just ended, including a further turn of a sample, by the rule of its group. A branch without a group has the
 * rule of the trajectory that it was forked from. Does nothing without a rule.
 */
export function rewardRun(key: string, record: Trajectory, store: TrajectoryStore): void {
  if (record.outcome.kind === 'running' || record.provenance.kind === 'import') return
  const row = record.group ? undefined : store.row(key)
  const rule = record.group ? store.groupRule(record.group.id) : row && inheritedRule(row, store)
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
