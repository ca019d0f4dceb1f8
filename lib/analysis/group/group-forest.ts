/** A group of samples as trees, with the numbers that follow from rewards. */
import type { GroupForest, GroupNode, GroupSample } from '#lib/api/forest/group-forest.ts'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { advantageOf } from '#lib/trajectory/reward/advantage.ts'
import { countedRewards, type GroupRewards, groupRewards } from '#lib/trajectory/reward/group-rewards.ts'
import { meanOf } from '#lib/trajectory/reward/mean.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { decisiveToken } from './decisive-token.ts'
import { groupNotes } from './group-notes.ts'
import type { GroupTree } from './group-tree.ts'
import { estimateOf, rewardRange } from './reward-estimate.ts'
import { isTruncated } from './truncation.ts'

/** A sample that is in no tree, with the reason. */
type GroupFinding = NonNullable<GroupSample['finding']>

/** What is known of a group besides its trees. */
export interface GroupFacts extends Pick<GroupForest, 'revision' | 'group' | 'isRunning' | 'formula' | 'missing'> {
  /** Number of samples of the group that were deleted. */
  readonly deleted: number
  /** Rows of the samples in the trees, in their order. */
  readonly rows: readonly TrajectorySummary[]
  /** Why samples cannot be read, in the order of `rows`; undefined: they can. */
  readonly findings: readonly (GroupFinding | undefined)[]
  /** The samples of the group that `rows` leaves out, because it has too many. */
  readonly leftOut: readonly Pick<TrajectorySummary, 'group' | 'reward'>[]
}

type Numbers = Pick<GroupNode, 'reward' | 'advantage'>

/** Returns the answer about a group. */
export function groupForest(tree: GroupTree, facts: GroupFacts): GroupForest {
  const { revision, group, isRunning, formula, missing, rows, leftOut, deleted } = facts
  const rewards = countedRewards([...rows, ...leftOut])
  const statistics = groupRewards(rewards)
  const range = rewardRange(rewards.filter((reward) => reward !== null))
  const samples = samplesOf(tree, facts, statistics)
  const estimates = new Map<string, Numbers>()
  const numbersOf = (through: readonly number[]): Numbers => {
    // Nodes in a row have the same samples, and an exact interval takes a while.
    const name = through.join()
    const found = estimates.get(name)
    if (found) return found
    const known = countedRewards(through.map((sample) => elementAt(rows, sample))).filter((reward) => reward !== null)
    const advantages = through.flatMap((sample) => samples[sample]?.tokenAdvantage ?? [])
    const numbers = {
      reward: known.length > 0 ? estimateOf(known, range) : null,
      advantage: advantages.length > 0 ? meanOf(advantages) : null,
    }
    estimates.set(name, numbers)
    return numbers
  }
  const splits = tree.splits.map((split) => ({
    ...split,
    branches: split.branches.map((branch) => ({ ...branch, ...numbersOf(branch.samples) })),
  }))
  return {
    revision,
    group,
    isRunning,
    formula,
    samples,
    missing,
    nodes: tree.nodes.map((node) => ({ ...node, ...numbersOf(node.samples) })),
    splits,
    decisive: decisiveToken(splits, rewards.slice(0, rows.length), range) ?? null,
    sharedTokens: tree.sharedTokens,
    rewards: statistics ? { ...statistics, range } : null,
    notes: groupNotes(tree, {
      shown: rows.length,
      leftOut: leftOut.length,
      deleted,
      running: rows.filter(({ outcomeKind }) => outcomeKind === 'running').length,
      rewards: statistics,
    }),
    counts: tree.counts,
  }
}

function samplesOf(
  { nodes, leaves }: GroupTree,
  { rows, findings, formula }: GroupFacts,
  rewards: GroupRewards | undefined,
): readonly GroupSample[] {
  return rows.map((row, index): GroupSample => {
    const leaf = leaves[index] ?? null
    const advantage = rewards && advantageOf(row, rewards, formula)
    return {
      row,
      advantage: advantage?.ofSample ?? null,
      tokenAdvantage: advantage?.ofToken ?? null,
      leaf,
      identicalTo: leaf === null ? [] : elementAt(nodes, leaf).ends.filter((sample) => sample !== index),
      isTruncated: isTruncated(row),
      finding: findings[index] ?? (leaf === null ? NO_TOKENS : null),
    }
  })
}

const NO_TOKENS: GroupFinding = {
  code: 'no-tokens',
  message: 'The sample has no tokens yet, or its run failed before the first one.',
}
