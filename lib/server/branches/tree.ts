/** The tree of a stored trajectory: the one that all were forked from, and every fork of it. */
import { MOST_LEAVES, type Tree } from '#lib/api/forest/tree.ts'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { isDamagedRecord } from '#lib/store/store-error.ts'
import { addPath, countForest, EMPTY_FOREST, type ForestNode, nodesOf } from '#lib/trajectory/forest/forest.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { storedTrajectory } from '../library/trajectories.ts'
import type { Services } from '../services.ts'

/** Returns the tree that contains a trajectory. Throws HttpProblem 404. */
export function treeOf(key: string, all: Services): Tree {
  const root = rootOf(storedTrajectory(key, all), all)
  const { rows, leftOut } = membersOf(root.id, all)
  const members = rows.flatMap((row) => {
    const trajectory = readMember(row.key, all)
    // A page that shows the tree watches its runs.
    if (trajectory?.outcome.kind === 'running') all.runs.lookedAt(row.key)
    return trajectory ? [{ row, trajectory }] : []
  })
  const forest = members.reduce(
    (grown, { row, trajectory }) => addPath(grown, row.key, trajectory.segments),
    EMPTY_FOREST,
  )
  const nodes = nodesOf(forest)
  const parents = new Map<ForestNode, number>(
    nodes.flatMap((node, index) => node.children.map((child): [ForestNode, number] => [child, index])),
  )
  const indexOfKey = new Map(members.map(({ row }, index) => [row.key, index]))
  const indexOfId = new Map(members.map(({ row }, index) => [row.id, index]))
  return {
    leaves: members.map(({ row, trajectory: { forkedFrom } }) => ({
      row,
      fork: forkedFrom
        ? { from: indexOfId.get(forkedFrom.trajectory) ?? null, token: forkedFrom.token, kind: forkedFrom.kind }
        : null,
    })),
    nodes: nodes.map((node) => ({
      parent: parents.get(node) ?? null,
      kind: node.kind,
      start: node.start,
      end: node.start + node.ids.length,
      opensSegment: node.opensSegment,
      leaves: node.leaves.flatMap((name) => indexOfKey.get(name) ?? []),
    })),
    counts: countForest(forest),
    leftOut,
  }
}

/** Returns the first ancestor whose own origin is not stored. Files may name each other in a circle, so each id is visited once. */
function rootOf(start: Trajectory, all: Services): Trajectory {
  const seen = new Set<string>()
  let root = start
  while (root.forkedFrom && !seen.has(root.id)) {
    seen.add(root.id)
    const [row] = all.store.related(root.forkedFrom.trajectory).own
    const parent = row && readMember(row.key, all)
    if (!parent) return root
    root = parent
  }
  return root
}

/** Returns the trajectories with the id of the root, their forks, the forks of those, and so on. */
function membersOf(
  rootId: string,
  { store }: Services,
): { readonly rows: readonly TrajectorySummary[]; readonly leftOut: number } {
  const rows: TrajectorySummary[] = [...store.related(rootId).own]
  const seen = new Set(rows.map(({ key }) => key))
  const asked = new Set<string>()
  for (const { id } of rows) {
    if (asked.has(id)) continue
    asked.add(id)
    for (const fork of store.related(id).forks)
      if (!seen.has(fork.key)) {
        seen.add(fork.key)
        rows.push(fork)
      }
  }
  return { rows: rows.slice(0, MOST_LEAVES), leftOut: Math.max(0, rows.length - MOST_LEAVES) }
}

/** Returns a trajectory; undefined if it was deleted in the meantime or is damaged, because the others still have a tree. */
function readMember(key: string, { store }: Services): Trajectory | undefined {
  try {
    return store.get(key)
  } catch (error) {
    if (isDamagedRecord(error)) return undefined
    throw error
  }
}
