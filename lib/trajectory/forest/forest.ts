/**
 * The forest of trajectories: a set of trees that only grows. A path from a root to a leaf is the token sequence of a
 * trajectory, and tokens that several trajectories begin with are one node. A forest is plain data: `addPath` returns a new
 * one that shares every unchanged node with the old one.
 */
import { commonIds } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { Segment } from '../format/trajectory.ts'

/** A segment as a forest compares it: its kind and its token ids. */
export interface PathSegment {
  readonly kind: Segment['kind']
  readonly ids: ArrayLike<number>
}

/** A position in a forest: what continues it, and which trajectories end there. */
export interface Forest {
  /** Continuations in the order in which they were added. No two of them begin with the same token of the same kind. */
  readonly children: readonly ForestNode[]
  /** Names of the trajectories that end here, in the order in which they were added. */
  readonly leaves: readonly string[]
}

/** Tokens without a split between them: a segment, or a part of one. */
export interface ForestNode extends Forest {
  readonly kind: Segment['kind']
  /** Number of tokens before it on every path through it. */
  readonly start: number
  /** Its token ids; empty only for a segment without tokens. */
  readonly ids: Int32Array
  /** True if its first token is the first one of a segment. */
  readonly opensSegment: boolean
}

/** A forest without trajectories. */
export const EMPTY_FOREST: Forest = { children: [], leaves: [] }

/** Returns the forest with one more trajectory. `name` becomes a leaf. Throws Error if the forest has this leaf. */
export function addPath(forest: Forest, name: string, segments: readonly PathSegment[]): Forest {
  if (pathTo(forest, name)) throw new Error(`the forest has the leaf ${name}`)
  return withParts(
    forest,
    name,
    segments.map(({ kind, ids }) => ({ kind, ids: columnOf(ids), opensSegment: true })),
  )
}

/** Returns the nodes from the root to a leaf; undefined if the forest has no such leaf. */
export function pathTo(forest: Forest, name: string): readonly ForestNode[] | undefined {
  // Paths may be long, so no call is made for each node.
  const open: { readonly at: Forest; readonly path: Path | undefined }[] = [{ at: forest, path: undefined }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { at, path } = next
    if (at.leaves.includes(name)) return listed(path)
    for (const node of at.children) open.push({ at: node, path: { node, before: path } })
  }
  return undefined
}

/** Returns all nodes, each before its continuations, in the order in which they were added. */
export function nodesOf(forest: Forest): readonly ForestNode[] {
  const nodes: ForestNode[] = []
  const open = [...forest.children].reverse()
  for (let node = open.pop(); node; node = open.pop()) {
    nodes.push(node)
    open.push(...[...node.children].reverse())
  }
  return nodes
}

/** Counts of a forest. */
export interface ForestCounts {
  readonly trees: number
  readonly leaves: number
  /** Positions with several continuations, or with a trajectory that ends where another one continues. */
  readonly splits: number
  /** Tokens of all trajectories. */
  readonly tokens: number
  /** Tokens of all nodes: shared ones count once. */
  readonly distinctTokens: number
}

/** Counts trees, leaves, splits and tokens. */
export function countForest(forest: Forest): ForestCounts {
  const nodes = nodesOf(forest)
  return {
    trees: forest.children.length,
    leaves: nodes.reduce((count, { leaves }) => count + leaves.length, forest.leaves.length),
    splits: splitNodes(forest).length,
    tokens: nodes.reduce((count, { start, ids, leaves }) => count + leaves.length * (start + ids.length), 0),
    distinctTokens: nodes.reduce((count, { ids }) => count + ids.length, 0),
  }
}

/** Returns the nodes after which trajectories differ, in the order of `nodesOf`. */
export const splitNodes = (forest: Forest): readonly ForestNode[] =>
  nodesOf(forest).filter(({ children, leaves }) => children.length + Math.min(1, leaves.length) > 1)

interface Path {
  readonly node: ForestNode
  readonly before: Path | undefined
}

function listed(path: Path | undefined): readonly ForestNode[] {
  const nodes: ForestNode[] = []
  for (let step = path; step; step = step.before) nodes.push(step.node)
  return nodes.reverse()
}

interface Part extends PathSegment {
  readonly ids: Int32Array
  readonly opensSegment: boolean
}

/** Adds the parts of a path. A path may have thousands of segments, so no call is made for each. */
function withParts(forest: Forest, name: string, parts: readonly Part[]): Forest {
  const passed: { readonly at: Forest; readonly index: number }[] = []
  let at = forest
  let start = 0
  for (let next = 0, part = parts[next]; part; ) {
    const index = at.children.findIndex((child) => isBegunBy(child, part as Part))
    const child = at.children[index]
    if (!child) {
      const added = chain(name, [part, ...parts.slice(next + 1)], start)
      return rebuilt(passed, { ...at, children: [...at.children, added] })
    }
    const shared = commonIds(child.ids, part.ids)
    passed.push({ at, index })
    at = shared === child.ids.length ? child : splitAt(child, shared)
    start += shared
    if (shared < part.ids.length) part = { ...part, ids: part.ids.subarray(shared), opensSegment: false }
    else part = parts[++next]
  }
  return rebuilt(passed, { ...at, leaves: [...at.leaves, name] })
}

/** Returns the forest in which each position on the way has the new continuation. */
const rebuilt = (passed: readonly { readonly at: Forest; readonly index: number }[], last: Forest): Forest =>
  passed.reduceRight(
    (below, { at, index }) => ({ ...at, children: at.children.with(index, below as ForestNode) }),
    last,
  )

const isBegunBy = (node: ForestNode, { kind, ids, opensSegment }: Part): boolean =>
  node.kind === kind &&
  node.opensSegment === opensSegment &&
  (node.ids.length === 0 || ids.length === 0 ? node.ids.length === ids.length : node.ids[0] === ids[0])

/** Returns the nodes of parts that nothing shares. */
function chain(name: string, parts: readonly Part[], start: number): ForestNode {
  const starts = [start]
  for (const { ids } of parts) starts.push(elementAt(starts, starts.length - 1) + ids.length)
  return parts.reduceRight<ForestNode | undefined>(
    (next, { kind, ids, opensSegment }, index) => ({
      kind,
      start: elementAt(starts, index),
      // A copy, because a node with a view would keep all tokens of its trajectory in memory.
      ids: new Int32Array(ids),
      opensSegment,
      children: next ? [next] : [],
      leaves: next ? [] : [name],
    }),
    undefined,
  ) as ForestNode
}

/** Returns a node as two: its first `count` tokens, and the others after them. The ids are views of the same memory. */
function splitAt({ ids, kind, start, opensSegment, ...continued }: ForestNode, count: number): ForestNode {
  const after: ForestNode = {
    kind,
    start: start + count,
    ids: ids.subarray(count),
    opensSegment: false,
    ...continued,
  }
  return { kind, start, ids: ids.subarray(0, count), opensSegment, children: [after], leaves: [] }
}

/** Returns ids as a typed array: comparing and copying those is many times as fast. */
const columnOf = (ids: ArrayLike<number>): Int32Array => (ids instanceof Int32Array ? ids : new Int32Array(ids))
