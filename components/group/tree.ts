/** The tree of a group as its page shows it: branches between splits, over the nodes of the answer. */
import type { GroupBranch, GroupForest, GroupSplit, RewardEstimate } from '#lib/api/forest/group-forest.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** Tokens from one split to the next. They may be in several segments. */
export interface SampleBranch {
  readonly index: number
  /** Index of the branch before it; undefined for a root. */
  readonly parent: number | undefined
  /** The nodes of the answer that it joins, half-open; empty if its samples end at the split. */
  readonly nodes: { readonly start: number; readonly end: number }
  /** Indices of its tokens, counted from the start of the trajectory, half-open. */
  readonly start: number
  readonly end: number
  /** Indices of the samples that have these tokens, in ascending order. */
  readonly samples: readonly number[]
  /** Index of the sample from whose trajectory its tokens are drawn. */
  readonly sample: number
  /** Indices of the branches after it, those with most samples first. */
  readonly children: readonly number[]
  /** Number of splits before it. */
  readonly level: number
  readonly reward: RewardEstimate | null
  readonly advantage: number | null
}

/** The branches of a group, each followed by those after it. */
export interface SampleTree {
  readonly forest: GroupForest
  readonly branches: readonly SampleBranch[]
  readonly roots: readonly number[]
}

/** Returns the branches of an answer. */
export function treeOfForest(forest: GroupForest): SampleTree {
  const { nodes } = forest
  const childrenOf = nodes.map((): number[] => [])
  for (const [index, { parent }] of nodes.entries()) if (parent !== null) elementAt(childrenOf, parent).push(index)
  const branches: SampleBranch[] = []
  const roots: number[] = []
  const links = new Map<number, number[]>()
  const link = (parent: number | undefined, index: number) => {
    if (parent === undefined) roots.push(index)
    else links.set(parent, [...(links.get(parent) ?? []), index])
  }
  interface Open {
    readonly node: number
    readonly parent: number | undefined
    readonly level: number
  }
  const open: Open[] = nodes
    .flatMap(({ parent }, node) => (parent === null ? [{ node, parent: undefined, level: 0 }] : []))
    .reverse()
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, parent, level } = next
    let last = node
    for (;;) {
      const [only, ...others] = elementAt(childrenOf, last)
      if (only === undefined || others.length > 0 || elementAt(nodes, last).ends.length > 0) break
      last = only
    }
    const index = branches.length
    const [first, end] = [elementAt(nodes, node), elementAt(nodes, last)]
    link(parent, index)
    branches.push({
      index,
      parent,
      nodes: { start: node, end: last + 1 },
      start: first.start,
      end: end.end,
      samples: first.samples,
      sample: first.sample,
      children: [],
      level,
      reward: first.reward,
      advantage: first.advantage,
    })
    const after = elementAt(childrenOf, last)
    open.push(...after.map((child) => ({ node: child, parent: index, level: level + 1 })).reverse())
    if (after.length > 0 && end.ends.length > 0) {
      // Some samples end where others continue: they are a branch without tokens.
      const ended = forest.splits.find((split) => split.node === last)?.branches.find((branch) => branch.node === null)
      link(index, branches.length)
      branches.push({
        index: branches.length,
        parent: index,
        nodes: { start: last + 1, end: last + 1 },
        start: end.end,
        end: end.end,
        samples: end.ends,
        sample: elementAt(end.ends, 0),
        children: [],
        level: level + 1,
        reward: ended?.reward ?? null,
        advantage: ended?.advantage ?? null,
      })
    }
  }
  const linked = branches.map((branch) => ({
    ...branch,
    children: (links.get(branch.index) ?? []).toSorted(
      (a, b) => elementAt(branches, b).samples.length - elementAt(branches, a).samples.length || a - b,
    ),
  }))
  return { forest, branches: linked, roots }
}

/** A position in a tree: a token of a branch, counted in the trajectories that contain it. */
export interface TreeSpot {
  readonly branch: number
  readonly token: number
}

/** Returns the branches of a sample, from its root to its end. */
export function pathOfSample({ forest, branches, roots }: SampleTree, sample: number): readonly SampleBranch[] {
  const path: SampleBranch[] = []
  if (forest.samples[sample]?.leaf === null) return path
  for (let among = roots; ; ) {
    const next = among.map((index) => elementAt(branches, index)).find(({ samples }) => samples.includes(sample))
    if (!next) return path
    path.push(next)
    among = next.children
  }
}

/** Returns the position of a token of a sample; undefined if the sample has no such token in the tree. */
export function spotOfSample(tree: SampleTree, sample: number, token: number): TreeSpot | undefined {
  const branch = pathOfSample(tree, sample).find(({ start, end }) => token >= start && token < end)
  return branch && { branch: branch.index, token }
}

/** Returns a name of a branch that later answers with more tokens keep: a sample from 1 and a token, such as `3-211`. */
export const branchName = ({ samples, start }: SampleBranch): string => `${(samples[0] ?? 0) + 1}-${start}`

/** Returns the branches that begin at the same split, this one included; only itself for the tokens that all samples share. */
export const siblingsOf = ({ branches, roots }: SampleTree, { parent }: SampleBranch): readonly SampleBranch[] =>
  (parent === undefined ? roots : elementAt(branches, parent).children).map((index) => elementAt(branches, index))

/** A split: the branches that begin there, at least two. */
export interface SampleSplit {
  /** Index of the branch before it; -1 if nothing is shared. */
  readonly after: number
  readonly position: number
  readonly branches: readonly SampleBranch[]
  /** Largest difference in mean reward between two branches with at least two rewards each; 0 if there is none. */
  readonly difference: number
}

/** Returns the splits in the order in which the tree shows them. */
export function splitsOfTree(tree: SampleTree): readonly SampleSplit[] {
  const sets = [tree.roots, ...tree.branches.map(({ children }) => children)]
  return sets.flatMap((set, at) => {
    if (set.length < 2) return []
    const branches = set.map((index) => elementAt(tree.branches, index))
    const means = branches.flatMap(({ reward }) => (reward && reward.known > 1 ? [reward.mean] : []))
    const difference = means.length > 1 ? Math.max(...means) - Math.min(...means) : 0
    return [{ after: at - 1, position: elementAt(branches, 0).start, branches, difference }]
  })
}

/** Returns the split of the answer at which a branch begins; undefined for the tokens that all samples share. */
export function splitBefore({ forest, branches }: SampleTree, { parent }: SampleBranch): GroupSplit | undefined {
  const before = parent === undefined ? null : elementAt(branches, parent).nodes.end - 1
  return forest.splits.find(({ node }) => node === before)
}

/** Returns whether a branch of the tree is this branch of its split in the answer. */
export const isBranchOfSplit = ({ nodes }: SampleBranch, { node }: GroupBranch): boolean =>
  node === (nodes.end > nodes.start ? nodes.start : null)

/** Returns the two branches of the decisive token: the one with the higher mean reward first; undefined if there is none. */
export function decisiveBranches(tree: SampleTree): readonly [SampleBranch, SampleBranch] | undefined {
  const { decisive, splits } = tree.forest
  const split = decisive && splits[decisive.split]
  if (!decisive || !split) return undefined
  const begun = tree.branches.filter((branch) => splitBefore(tree, branch) === split)
  const [high, low] = [decisive.high, decisive.low].map((index) =>
    begun.find((branch) => isBranchOfSplit(branch, elementAt(split.branches, index))),
  )
  return high && low ? [high, low] : undefined
}
