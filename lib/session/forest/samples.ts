/**
 * The samples that a trainer gets from a session: which leaves of the forest, where each shared token is trained, and where samples are cut.
 */
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { pathOf, type SessionNode } from './forest.ts'

/** Ways to choose leaves. Several apply in the order in which they are given. */
export const LEAF_PICKERS = ['all', 'without-retries', 'without-rolled-back', 'without-aborted', 'longest'] as const
/** Name of a way to choose leaves. */
export type LeafPicker = (typeof LEAF_PICKERS)[number]

/** Where tokens are trained that several samples share. */
export const SHARED_MASKS = ['once', 'every-leaf'] as const
/** once: in the first sample that contains them. every-leaf: in all samples. */
type SharedMask = (typeof SHARED_MASKS)[number]

/** What samples consist of. */
export interface SampleSettings {
  readonly pickers: readonly LeafPicker[]
  readonly mask: SharedMask
  /**
   * Largest number of tokens of all samples together. The first leaf that does not fit is cut after its last whole call that fits, and
   * later leaves are left out. Omitted: no limit.
   */
  readonly maxTokens?: number
  /** Sequence numbers of the nodes that still exist. Others neither are in a sample nor replace one. Omitted: all exist. */
  readonly living?: ReadonlySet<number>
}

/** Tokens of one prompt or one reply in a sample. */
interface SamplePart {
  /** Sequence number of the node. */
  readonly node: number
  readonly kind: 'prompt' | 'reply'
  /** Number of tokens, from the first one of the prompt or reply. */
  readonly tokens: number
  /** The tokens that the sample trains, counted from the first one. Empty in a prompt. */
  readonly trained: Span
}

/** One training sample: the tokens from a root to a leaf. */
interface SessionSample {
  /** Sequence number of the leaf. */
  readonly leaf: number
  readonly parts: readonly SamplePart[]
}

/** A leaf, or the end of one, that no sample contains. */
export interface LeftOut {
  /** Sequence number of the leaf. */
  readonly leaf: number
  /** total-tokens: the limit was reached. Otherwise the picker. */
  readonly because: Exclude<LeafPicker, 'all'> | 'total-tokens'
  /** Number of tokens that are left out: all of its path, or those after the last call that fits. */
  readonly tokens: number
  /** Sequence number of the last node of the sample, if only the end of the path is left out. Omitted: all is left out. */
  readonly cutAfter?: number
}

/** The samples of a session. */
interface SessionSamples {
  /** In the order of their leaves. */
  readonly samples: readonly SessionSample[]
  readonly leftOut: readonly LeftOut[]
}

/** Returns the number of tokens from the root to the end of a node. */
export const pathTokenCount = ({ tokens }: Pick<SessionNode, 'tokens'>): number =>
  tokens.start + tokens.prompt + tokens.reply

/** Returns the parent of a node if the prompt of the node begins with all its tokens; undefined if it does not, or is a root. */
export function wholeParent({ parent, tokens }: SessionNode, nodes: readonly SessionNode[]): SessionNode | undefined {
  const before = parent === undefined ? undefined : nodes[parent]
  return before && tokens.start >= pathTokenCount(before) ? before : undefined
}

/** Returns the nodes with a reply that no other node keeps whole, in order. `living` as in SampleSettings. */
export function leavesOf(nodes: readonly SessionNode[], living?: ReadonlySet<number>): readonly SessionNode[] {
  const replies = nodes.filter(({ reply, sequence }) => reply && exists(sequence, living))
  const continued = new Set(replies.map((node) => wholeParent(node, nodes)?.sequence))
  return replies.filter(({ sequence }) => !continued.has(sequence))
}

const exists = (sequence: number, living: ReadonlySet<number> | undefined): boolean => living?.has(sequence) ?? true

/** Chooses leaves, in order, and says which picker left out each of the others. `living` as in SampleSettings. */
export function pickLeaves(
  nodes: readonly SessionNode[],
  pickers: readonly LeafPicker[],
  living?: ReadonlySet<number>,
): { readonly leaves: readonly SessionNode[]; readonly leftOut: readonly LeftOut[] } {
  const leftOut: LeftOut[] = []
  const leaves = pickers.reduce(
    (picked, picker) => {
      if (picker === 'all') return picked
      const keeps = KEEPS[picker](nodes, picked, living)
      for (const leaf of picked)
        if (!keeps(leaf)) leftOut.push({ leaf: leaf.sequence, because: picker, tokens: pathTokenCount(leaf) })
      return picked.filter(keeps)
    },
    leavesOf(nodes, living),
  )
  return { leaves, leftOut }
}

/** Returns the samples of a session. */
export function sessionSamples(
  nodes: readonly SessionNode[],
  { pickers, mask, maxTokens, living }: SampleSettings,
): SessionSamples {
  const { leaves, leftOut } = pickLeaves(nodes, pickers, living)
  const cut: LeftOut[] = []
  const samples: SessionSample[] = []
  /** Number of reply tokens that earlier samples train, by node. */
  const trained = new Map<number, number>()
  let room = maxTokens ?? Number.POSITIVE_INFINITY
  for (const leaf of leaves) {
    const end = pathOf(nodes, leaf.sequence).findLast((node) => pathTokenCount(node) <= room)
    if (end !== leaf) {
      const tokens = pathTokenCount(leaf) - (end ? pathTokenCount(end) : 0)
      cut.push({ leaf: leaf.sequence, because: 'total-tokens', tokens, ...(end && { cutAfter: end.sequence }) })
    }
    room -= pathTokenCount(leaf)
    if (!end) continue
    const parts = partsOf(pathOf(nodes, end.sequence)).map((part): SamplePart => {
      if (part.kind === 'prompt') return { ...part, trained: { start: 0, end: 0 } }
      const start = mask === 'once' ? Math.min(part.tokens, trained.get(part.node) ?? 0) : 0
      trained.set(part.node, Math.max(part.tokens, trained.get(part.node) ?? 0))
      return { ...part, trained: { start, end: part.tokens } }
    })
    samples.push({ leaf: leaf.sequence, parts })
  }
  return { samples, leftOut: [...leftOut, ...cut].sort((a, b) => a.leaf - b.leaf) }
}

/** Returns the parts of a path. A prompt that begins with fewer tokens than the path before has cuts that path. */
function partsOf(path: readonly SessionNode[]): readonly Omit<SamplePart, 'trained'>[] {
  const parts: Omit<SamplePart, 'trained'>[] = []
  let end = 0
  const add = (part: Omit<SamplePart, 'trained'>) => {
    if (part.tokens > 0) parts.push(part)
    end += part.tokens
  }
  for (const { sequence: node, tokens } of path) {
    while (end > tokens.start) {
      const last = elementAt(parts, parts.length - 1)
      parts.pop()
      end -= last.tokens
      add({ ...last, tokens: Math.max(0, tokens.start - end) })
    }
    add({ node, kind: 'prompt', tokens: tokens.prompt })
    add({ node, kind: 'reply', tokens: tokens.reply })
  }
  return parts
}

type Keeps = (
  nodes: readonly SessionNode[],
  picked: readonly SessionNode[],
  living: ReadonlySet<number> | undefined,
) => (leaf: SessionNode) => boolean

const withoutRetries: Keeps = (nodes, _, living) => {
  const superseded = supersededCalls(nodes, living)
  return ({ sequence }) => pathOf(nodes, sequence).every(({ call }) => !superseded.has(call))
}

/** Returns the calls that the client repeated, except the last attempt that was completed, or else the last one with a reply. Samples of a prompt that were requested at the same time are no attempts. */
function supersededCalls(nodes: readonly SessionNode[], living: ReadonlySet<number> | undefined): ReadonlySet<number> {
  const firstOf: number[] = []
  const attempts = new Map<number, SessionNode[]>()
  for (const node of nodes) {
    const { attached, sequence } = node
    const isSample =
      attached.kind === 'retried' && attached.isConcurrent && elementAt(nodes, attached.of).status === 'complete'
    const first = attached.kind === 'retried' && !isSample ? elementAt(firstOf, attached.of) : sequence - node.choice
    firstOf.push(first)
    if (node.reply && exists(sequence, living)) attempts.set(first, [...(attempts.get(first) ?? []), node])
  }
  return new Set(
    [...attempts.values()].flatMap((all) => {
      const last = all.findLast(({ status }) => status === 'complete') ?? all.at(-1)
      return all.map(({ call }) => call).filter((call) => call !== last?.call)
    }),
  )
}

const withoutRolledBack: Keeps = (nodes, _, living) => {
  const cuts = nodes.filter(
    ({ attached, reply, sequence }) => attached.kind === 'rolled-back' && reply && exists(sequence, living),
  )
  return (leaf) => {
    const path = pathOf(nodes, leaf.sequence)
    return !cuts.some(({ attached, parent, sequence }) => {
      if (sequence <= leaf.sequence || attached.kind !== 'rolled-back') return false
      if (parent === undefined) return pathOf(nodes, attached.abandoned)[0] === path[0]
      return parent !== leaf.sequence && path.some((node) => node.sequence === parent)
    })
  }
}

const withoutAborted: Keeps =
  () =>
  ({ status }) =>
    status !== 'aborted'

const longest: Keeps = (_, picked) => {
  const most = Math.max(...picked.map(pathTokenCount))
  const last = picked.findLast((leaf) => pathTokenCount(leaf) === most)
  return (leaf) => leaf === last
}

const KEEPS: Readonly<Record<Exclude<LeafPicker, 'all'>, Keeps>> = {
  'without-retries': withoutRetries,
  'without-rolled-back': withoutRolledBack,
  'without-aborted': withoutAborted,
  longest,
}
