/** The advantage of a sample as a column of its tokens. */
import type { Segment, Trajectory } from '../format/trajectory.ts'
import { columnRoles } from '../tokens/column-roles.ts'
import { statistics } from '../tokens/statistics.ts'
import { isTrained } from '../tokens/tokens.ts'
import { type AdvantageFormula, advantageOf } from './advantage.ts'
import type { GroupRewards } from './group-rewards.ts'

/** The name that formats of trainers read. */
const NAME = 'advantage'

/**
 * Returns the trajectory with the advantage of each trained token in a group with these rewards; other tokens have none. It replaces
 * advantages of its file. Undefined if the advantage is unknown. `reward` is that of the sample; null: none.
 */
export function withAdvantages(
  trajectory: Trajectory,
  reward: number | null,
  rewards: GroupRewards,
  formula: AdvantageFormula,
): Trajectory | undefined {
  const advantage = advantageOf({ reward, trained: statistics(trajectory).trained }, rewards, formula)
  if (!advantage) return undefined
  const name = columnRoles(trajectory).advantage ?? NAME
  return {
    ...trajectory,
    columnMeanings: {
      ...trajectory.columnMeanings,
      [name]: { quantity: 'advantage', source: `Rollscope, ${formula}` },
    },
    segments: trajectory.segments.map((segment): Segment => {
      const values = segment.ids.map((_, index) => (isTrained(segment, index) ? advantage.ofToken : null))
      return { ...segment, columns: { ...segment.columns, [name]: values } }
    }),
  }
}
