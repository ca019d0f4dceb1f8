/** The trees of a group: nodes and splits with the samples in them. Token ids of nodes are left out, because a group may have millions. */
import type { GroupBranch, GroupForest, GroupNode, GroupSplit } from '#lib/api/forest/group-forest.ts'
import {
  addPath,
  countForest,
  EMPTY_FOREST,
  type Forest,
  type ForestNode,
  nodesOf,
} from '#lib/trajectory/forest/forest.ts'
import type { Vocab } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { type NumberColumn, numberAt } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** The tokens of a sample, as far as a tree needs them. */
export interface SampleTokens {
  readonly segments: readonly {
    readonly kind: GroupNode['kind']
    readonly ids: ArrayLike<number>
    readonly logprobs?: NumberColumn | undefined
  }[]
  readonly vocab: Vocab
  /** Name or fingerprint of its tokenizer; undefined if it is unknown. */
  readonly tokenizer: string | undefined
}

/** A node without the numbers that follow from rewards. */
type TreeNode = Omit<GroupNode, 'reward' | 'advantage'>

/** A branch without the numbers that follow from rewards. */
type TreeBranch = Omit<GroupBranch, 'reward' | 'advantage'>

/** A split without the numbers that follow from rewards. */
interface TreeSplit extends Omit<GroupSplit, 'branches'> {
  readonly branches: readonly TreeBranch[]
}

/** The trees of a group. */
export interface GroupTree {
  readonly nodes: readonly TreeNode[]
  readonly splits: readonly TreeSplit[]
  /** The node in which each sample ends; null for one without tokens. */
  readonly leaves: readonly (number | null)[]
  readonly sharedTokens: number
  readonly counts: GroupForest['counts']
  /** Number of different tokenizers that are known. */
  readonly tokenizers: number
}

/** Returns the trees of samples. Those that are undefined, and those without tokens, are in no tree. */
export function groupTree(samples: readonly (SampleTokens | undefined)[]): GroupTree {
  const forest = samples.reduce<Forest>(
    (grown, sample, index) => (sample && hasTokens(sample) ? addPath(grown, String(index), sample.segments) : grown),
    EMPTY_FOREST,
  )
  const nodes = placedNodes(forest)
  const splits = splitsOf(nodes, samples)
  const leaves = samples.map((): number | null => null)
  for (const [index, { ends }] of nodes.entries()) for (const sample of ends) leaves[sample] = index
  const total = leaves.filter((leaf) => leaf !== null).length
  return {
    nodes: nodes.map(({ ids: _, segmentStart: __, ...node }) => node),
    splits,
    leaves,
    sharedTokens: nodes.reduce((end, node) => (node.samples.length === total ? Math.max(end, node.end) : end), 0),
    counts: { ...countForest(forest), splits: splits.length },
    tokenizers: new Set(samples.flatMap((sample) => sample?.tokenizer ?? [])).size,
  }
}

const hasTokens = ({ segments }: SampleTokens): boolean => segments.some(({ ids }) => ids.length > 0)

/** The samples through a node, and the one that draws it. */
interface Passing {
  readonly samples: readonly number[]
  readonly sample: number
}

type PassingByNode = ReadonlyMap<ForestNode, Passing>

const passingOf = (passing: PassingByNode, node: ForestNode): Passing => {
  const found = passing.get(node)
  if (!found) throw new Error('the node is not in the forest')
  return found
}

/** Returns the samples through every node. A node is drawn from a sample of its largest branch, so few trajectories are needed. */
function passingSamples(forest: Forest): PassingByNode {
  const passing = new Map<ForestNode, Passing>()
  for (const node of [...nodesOf(forest)].reverse()) {
    const below = inOrder(node.children, passing).map((child) => passingOf(passing, child))
    const ends = node.leaves.map(Number)
    const samples = [...ends, ...below.flatMap(({ samples }) => samples)].sort((a, b) => a - b)
    passing.set(node, { samples, sample: below[0]?.sample ?? elementAt(ends, 0) })
  }
  return passing
}

/** Returns nodes with those of most samples first, then in the order of their first sample. */
const inOrder = (nodes: readonly ForestNode[], passing: PassingByNode): readonly ForestNode[] =>
  [...nodes].sort((a, b) => byCount(passingOf(passing, a), passingOf(passing, b)))

const byCount = (a: Pick<Passing, 'samples'>, b: Pick<Passing, 'samples'>): number =>
  b.samples.length - a.samples.length || elementAt(a.samples, 0) - elementAt(b.samples, 0)

interface PlacedNode extends TreeNode {
  readonly ids: Int32Array
  /** Index of the first token of its segment. */
  readonly segmentStart: number
}

/** Returns the nodes depth first, those with most samples first. */
function placedNodes(forest: Forest): readonly PlacedNode[] {
  const passing = passingSamples(forest)
  const nodes: PlacedNode[] = []
  const open: { readonly node: ForestNode; readonly parent: number | null }[] = []
  const enter = (children: readonly ForestNode[], parent: number | null) => {
    for (const node of [...inOrder(children, passing)].reverse()) open.push({ node, parent })
  }
  enter(forest.children, null)
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, parent } = next
    const before = parent === null ? undefined : nodes[parent]
    const { kind, start, ids, opensSegment, leaves } = node
    enter(node.children, nodes.length)
    nodes.push({
      parent,
      kind,
      segment: before ? before.segment + (opensSegment ? 1 : 0) : 0,
      start,
      end: start + ids.length,
      opensSegment,
      ...passingOf(passing, node),
      ends: leaves.map(Number),
      ids,
      segmentStart: before && !opensSegment ? before.segmentStart : start,
    })
  }
  return nodes
}

/** Returns the positions at which samples differ, in the order of the nodes before them. */
function splitsOf(nodes: readonly PlacedNode[], samples: readonly (SampleTokens | undefined)[]): readonly TreeSplit[] {
  const continuations = new Map<number | null, number[]>()
  for (const [index, { parent }] of nodes.entries()) {
    const siblings = continuations.get(parent)
    if (siblings) siblings.push(index)
    else continuations.set(parent, [index])
  }
  return [null, ...nodes.keys()].flatMap((node): TreeSplit[] => {
    const before = node === null ? undefined : elementAt(nodes, node)
    const branches = (continuations.get(node) ?? []).map((index) => branchOf(index, elementAt(nodes, index), samples))
    const ends = before?.ends ?? []
    if (ends.length > 0) branches.push({ node: null, id: null, text: null, probability: null, samples: ends })
    if (branches.length < 2) return []
    return [{ position: before?.end ?? 0, node, branches: branches.sort(byCount) }]
  })
}

function branchOf(
  index: number,
  { ids, sample, samples: through, kind, segment, start, segmentStart }: PlacedNode,
  all: readonly (SampleTokens | undefined)[],
): TreeBranch {
  const id = ids[0] ?? null
  const vocab = all[sample]?.vocab ?? {}
  const logprobs =
    kind === 'response' && id !== null
      ? through.map((each) => numberAt(all[each]?.segments[segment]?.logprobs, start - segmentStart))
      : []
  const logprob = logprobs.find((value) => value !== null) ?? null
  return {
    node: index,
    id,
    text: id !== null && Object.hasOwn(vocab, id) ? textOf([id], vocab) : null,
    // Logprobs computed in float32 may be slightly above 0.
    probability: logprob === null ? null : Math.min(1, Math.exp(logprob)),
    samples: through,
  }
}
