/** The trajectories from which a branch was forked. */
import type { TrajectorySummary } from '#lib/api/library.ts'
import type { TrajectoryStore } from '#lib/store/trajectories.ts'
import type { RewardRule } from '#lib/trajectory/reward/rule.ts'

/** A stored trajectory from which another one was forked. */
interface Ancestor {
  readonly row: TrajectorySummary
  /** Number of tokens that both begin with, by the forks between them. */
  readonly shared: number
}

/**
 * Returns the stored trajectories from which one was forked, the nearest first. Files may name each other in a circle, so each id is
 * visited once.
 */
export function ancestorsOf(start: TrajectorySummary, store: Pick<TrajectoryStore, 'related'>): readonly Ancestor[] {
  const ancestors: Ancestor[] = []
  const seen = new Set<string>()
  let { row, shared }: Ancestor = { row: start, shared: Number.POSITIVE_INFINITY }
  while (row.fork && !seen.has(row.id)) {
    seen.add(row.id)
    const [parent] = store.related(row.fork.from).own
    if (!parent) break
    shared = Math.min(shared, row.fork.token)
    row = parent
    ancestors.push({ row, shared })
  }
  return ancestors
}

/** Returns the reward rule of the trajectory's group, otherwise that of the nearest trajectory that it was forked from. */
export function inheritedRule(
  row: TrajectorySummary,
  store: Pick<TrajectoryStore, 'related' | 'groupRule'>,
): RewardRule | undefined {
  for (const { group } of [row, ...ancestorsOf(row, store).map((ancestor) => ancestor.row)]) {
    const rule = group && store.groupRule(group.id)
    if (rule) return rule
  }
  return undefined
}
