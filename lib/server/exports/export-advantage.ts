/** Advantages in exports: each sample is compared with its group. */

import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ADVANTAGE_FORMULAS, type AdvantageFormula } from '#lib/trajectory/reward/advantage.ts'
import { withAdvantages } from '#lib/trajectory/reward/advantage-column.ts'
import { type GroupRewards, groupRewards } from '#lib/trajectory/reward/group-rewards.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'

/** Description of this choice in the HTTP interface. */
export const ADVANTAGE_TEXT = `Adds the advantage of each trained token as a column: ${ADVANTAGE_FORMULAS.join(', ')}. Samples are compared with their group, and trajectories without a group with the others of the request. Default: none is added.`

/** Returns a trajectory with its advantages; unchanged if they are unknown. */
export type AdvantageColumn = (trajectory: Trajectory, key: string) => Trajectory

/**
 * Returns the function that adds advantages to the trajectories of an export; without a formula it changes nothing. Throws HttpProblem if none
 * of them has an advantage.
 */
export function advantageColumn(
  keys: readonly string[],
  formula: AdvantageFormula | undefined,
  { store }: Services,
): AdvantageColumn {
  if (formula === undefined) return (trajectory) => trajectory
  const groups = new Map<string | undefined, GroupRewards | undefined>()
  const ungrouped: (number | null)[] = []
  const samples = new Map<string, { readonly reward: number | null; readonly group: string | undefined }>()
  for (const key of keys) {
    const row = store.row(key)
    if (!row) continue
    const group = row.group?.id
    samples.set(key, { reward: row.reward, group })
    if (group === undefined) ungrouped.push(row.reward)
    else if (!groups.has(group)) groups.set(group, groupRewards(store.groupRows(group).map(({ reward }) => reward)))
  }
  groups.set(undefined, groupRewards(ungrouped))
  const rewardsOf = (key: string) => groups.get(samples.get(key)?.group)
  const hasAdvantage = [...samples].some(([key, { reward }]) => reward !== null && (rewardsOf(key)?.scored ?? 0) > 1)
  if (!hasAdvantage)
    throw new HttpProblem({
      status: 422,
      code: 'NO_ADVANTAGE',
      detail:
        'none of the trajectories has an advantage: each needs a reward, and another sample of its group with one',
      hint: 'Set a reward rule for the group, or leave out "advantage".',
      field: 'advantage',
    })
  return (trajectory, key) => {
    const rewards = rewardsOf(key)
    return (rewards && withAdvantages(trajectory, samples.get(key)?.reward ?? null, rewards, formula)) ?? trajectory
  }
}
