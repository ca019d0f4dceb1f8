/** The rewards of branches whose inserted tokens replace a token of the trajectory, to compare them with its value there. */
import type { Tree } from '#lib/api/forest/tree.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** The mean reward of branches that inserted the same text at the same token. */
export interface BranchReward {
  /** Index of the first inserted token. */
  readonly token: number
  readonly text: string
  /** The replaced token; null if the trajectory ends before. */
  readonly instead: string | null
  readonly mean: number
  readonly samples: number
  /** Key of the first of the branches. */
  readonly key: string
}

/** Returns the rewards of the branches that inserted text or ids into a trajectory of a tree, in the order of their tokens. */
export function branchRewards({ leaves }: Pick<Tree, 'leaves'>, key: string): readonly BranchReward[] {
  const own = leaves.findIndex(({ row }) => row.key === key)
  const rewarded = leaves.flatMap(({ row, fork }) =>
    fork?.from === own && fork.inserted && row.reward !== null
      ? [{ key: row.key, reward: row.reward, token: fork.token, ...fork.inserted }]
      : [],
  )
  return Array.from(Map.groupBy(rewarded, ({ token, text }) => `${token} ${text}`).values(), (same): BranchReward => {
    const { reward: _, ...first } = elementAt(same, 0)
    return { ...first, samples: same.length, mean: same.reduce((sum, { reward }) => sum + reward, 0) / same.length }
  }).sort((a, b) => a.token - b.token)
}
