/** The tree of a stored trajectory: the one that all were forked from, and every fork of it. */
import { MOST_LEAVES, type Tree } from '#lib/api/forest/tree.ts'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { estimateOfGroup } from '#lib/store/estimates.ts'
import type { TrajectoryStore } from '#lib/store/trajectories.ts'
import {
  addPath,
  countForest,
  EMPTY_FOREST,
  type ForestNode,
  nodesOf,
  type PathSegment,
} from '#lib/trajectory/forest/forest.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { createMemory, type Memory } from '#lib/util/bounded-memory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { readableTrajectory, storedRow } from '../library/trajectories.ts'
import type { Services } from '../services.ts'
import { ancestorsOf } from './ancestors.ts'
import { type ForkTexts, forkTexts, NO_FORK_TEXTS } from './fork-texts.ts'

/** Returns the tree that contains a trajectory. Throws HttpProblem 404. */
export function treeOf(key: string, all: Services): Tree {
  const start = storedRow(key, all)
  const path = [start, ...ancestorsOf(start, all.store).map(({ row }) => row)]
  const { rows, valueSamples, leftOut } = membersOf(path, all)
  // A page that shows the tree watches its runs.
  for (const row of rows) if (row.outcomeKind === 'running') all.runs.lookedAt(row.key)
  const { textsOf, ...shape } = shapeOf(rows, all.store)
  const leaves = rows.filter((row) => textsOf.has(row.key))
  const indexOfId = new Map(leaves.map(({ id }, index) => [id, index]))
  return {
    leaves: leaves.map((row) => ({
      row,
      isValueSample: valueSamples.has(row.key),
      fork: row.fork && {
        ...row.fork,
        from: indexOfId.get(row.fork.from) ?? null,
        ...(textsOf.get(row.key) ?? NO_FORK_TEXTS),
      },
    })),
    ...shape,
    leftOut,
  }
}

/** The trajectories of a tree, and the keys of those that value estimates have sampled. */
interface Members {
  readonly rows: readonly TrajectorySummary[]
  readonly valueSamples: ReadonlySet<string>
  readonly leftOut: number
}

/**
 * Returns the trajectories with the id of the root, their forks, the forks of those, and so on. If they are too many, the trajectory and
 * those on its path to the root are kept first, then the latest branches. Samples of value estimates are last: there are often hundreds
 * of them, which would leave no place for the branches of a user.
 */
function membersOf(path: readonly TrajectorySummary[], { store }: Services): Members {
  const rows: TrajectorySummary[] = [...store.related(elementAt(path, path.length - 1).id).own]
  const seen = new Set(rows.map(({ key }) => key))
  const visited = new Set<string>()
  for (const { id } of rows) {
    if (visited.has(id)) continue
    visited.add(id)
    for (const fork of store.related(id).forks)
      if (!seen.has(fork.key)) {
        seen.add(fork.key)
        rows.push(fork)
      }
  }
  const ofEstimate = new Map<string, boolean>()
  const isValueSample = ({ group }: TrajectorySummary): boolean => {
    if (!group) return false
    const known = ofEstimate.get(group.id) ?? store.estimate(estimateOfGroup(group.id)) !== undefined
    ofEstimate.set(group.id, known)
    return known
  }
  const samples = rows.filter(isValueSample)
  const valueSamples = new Set(samples.map(({ key }) => key))
  const branches = rows.filter(({ key }) => !valueSamples.has(key))
  // Branches that were just started are the ones that a user watches.
  const latest = branches.toReversed().toSorted((a, b) => b.addedAt.localeCompare(a.addedAt))
  const listedKeys = new Set(
    Array.from(new Set([...path, ...latest, ...samples].map(({ key }) => key))).slice(0, MOST_LEAVES),
  )
  // A run whose process has ended is marked when its own row is read.
  const settled = [...branches, ...samples]
    .filter(({ key }) => listedKeys.has(key))
    .map((row) => (row.outcomeKind === 'running' ? (store.row(row.key) ?? row) : row))
  return { rows: settled, valueSamples, leftOut: rows.length - settled.length }
}

/** The nodes of a tree, and the texts of the trajectories that could be read, by their keys. */
interface Shape extends Pick<Tree, 'nodes' | 'counts'> {
  readonly textsOf: ReadonlyMap<string, ForkTexts>
}

/** Segments and texts of a trajectory; `segments` is undefined if it could not be read. */
interface Path {
  readonly segments: readonly PathSegment[] | undefined
  readonly texts: ForkTexts
}

/** Largest number of tokens of trajectories that are kept, so that a growing tree reads only what has grown. 4 bytes each. */
const MOST_KEPT_TOKENS = 4_000_000
/** Largest number of nodes of trees that are kept: a page polls its tree while branches run, and most answers have the same nodes. */
const MOST_KEPT_NODES = 50_000

const memoriesOf = memoizeByIdentity((_: TrajectoryStore) => ({
  paths: createMemory<Path>(MOST_KEPT_TOKENS),
  shapes: createMemory<Shape>(MOST_KEPT_NODES),
}))

/** Returns the nodes of the trajectories. Only trajectories that have changed since the last call are read. */
function shapeOf(rows: readonly TrajectorySummary[], store: TrajectoryStore): Shape {
  const { paths, shapes } = memoriesOf(store)
  const versions = rows.flatMap(({ key }) => {
    const revision = store.revision(key)
    return revision === undefined ? [] : [{ key, name: `${revision} ${key}` }]
  })
  const name = versions.map((version) => version.name).join('\n')
  const known = shapes.get(name)
  if (known) return known
  const parents = new Map<string, Trajectory | undefined>()
  /** Reads a trajectory from which messages were edited, once for all of its branches. */
  const parentOf = (id: string) => {
    if (!parents.has(id)) {
      const [row] = store.related(id).own
      parents.set(id, row && readableTrajectory(row.key, store))
    }
    return parents.get(id)
  }
  const shape = shapeOfPaths(
    versions.flatMap((version) => {
      const { segments, texts } = paths.get(version.name) ?? readPath(version, store, paths, parentOf)
      return segments ? [{ key: version.key, segments, texts }] : []
    }),
  )
  shapes.set(name, shape, shape.nodes.length)
  return shape
}

/** The path of a trajectory that could be read. */
interface ReadPath extends Path {
  readonly key: string
  readonly segments: readonly PathSegment[]
}

function shapeOfPaths(paths: readonly ReadPath[]): Shape {
  const forest = paths.reduce((grown, { key, segments }) => addPath(grown, key, segments), EMPTY_FOREST)
  const nodes = nodesOf(forest)
  const parents = new Map<ForestNode, number>(
    nodes.flatMap((node, index) => node.children.map((child): [ForestNode, number] => [child, index])),
  )
  const indexOfKey = new Map(paths.map(({ key }, index) => [key, index]))
  return {
    textsOf: new Map(paths.map(({ key, texts }) => [key, texts])),
    nodes: nodes.map((node) => ({
      parent: parents.get(node) ?? null,
      kind: node.kind,
      start: node.start,
      end: node.start + node.ids.length,
      opensSegment: node.opensSegment,
      leaves: node.leaves.flatMap((name) => indexOfKey.get(name) ?? []),
    })),
    counts: countForest(forest),
  }
}

/** Reads the ids of a trajectory. One that was deleted in the meantime, or is damaged, has none: the others still have a tree. */
function readPath(
  { key, name }: { readonly key: string; readonly name: string },
  store: TrajectoryStore,
  paths: Memory<Path>,
  parentOf: (id: string) => Trajectory | undefined,
): Path {
  const trajectory = readableTrajectory(key, store)
  const path = {
    segments: trajectory?.segments.map(({ kind, ids }) => ({ kind, ids: Int32Array.from(ids) })),
    texts: trajectory ? forkTexts(trajectory, parentOf) : NO_FORK_TEXTS,
  }
  paths.set(
    name,
    path,
    (path.segments ?? []).reduce((count, { ids }) => count + ids.length, 0),
  )
  return path
}
