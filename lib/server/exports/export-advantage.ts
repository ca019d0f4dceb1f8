/** Advantages in exports: each sample is compared with its group. */

import { ADVANTAGE_FORMULAS, type AdvantageFormula } from '#lib/trajectory/reward/advantage.ts'
import { type GroupRewards, groupRewards } from '#lib/trajectory/reward/group-rewards.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import type { SampleAdvantage } from './export-parts.ts'

/** Description of this choice in the HTTP interface. */
export const ADVANTAGE_TEXT = `Adds the advantage of each trained token as a column: ${ADVANTAGE_FORMULAS.join(', ')}. Samples are compared with their group, and trajectories without a group with the others of the request. Default: none is added.`

/**
 * Returns a function that returns what the advantage of a trajectory depends on; undefined if it has none, or without a formula. Throws
 * HttpProblem if no trajectory has an advantage.
 */
export function sampleAdvantages(
  keys: readonly string[],
  formula: AdvantageFormula | undefined,
  { store }: Services,
): (key: string) => SampleAdvantage | undefined {
  if (formula === undefined) return () => undefined
  const groups = new Map<string | undefined, GroupRewards | undefined>()
  const ungrouped: (number | null)[] = []
  const samples = new Map<string, { readonly reward: number | null; readonly group: string | undefined }>()
  for (const key of keys) {
    const row = store.row(key)
    if (!row) continue
    const group = store.groupName(key)
    samples.set(key, { reward: row.reward, group })
    if (group === undefined) ungrouped.push(row.reward)
    else if (!groups.has(group)) groups.set(group, groupRewards(store.rewardsOfGroup(group)))
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
  return (key) => {
    const rewards = rewardsOf(key)
    return rewards && { reward: samples.get(key)?.reward ?? null, rewards, formula }
  }
}
