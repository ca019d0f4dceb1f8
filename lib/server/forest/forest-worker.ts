/** Runs in the thread that builds the trees of groups: reading 64 samples of 20,000 tokens takes longer than other requests should wait. */
import { type GroupFacts, groupForest } from '#lib/analysis/group/group-forest.ts'
import { type GroupTree, groupTree, type SampleTokens } from '#lib/analysis/group/group-tree.ts'
import { openViewReader, type StoredView } from '#lib/store/packed.ts'
import type { SegmentView, TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { createMemory } from '#lib/util/bounded-memory.ts'
import { answerRequests } from '../limited-thread.ts'
import type { ForestQuestion, ForestReply, ForestWorkerStart } from './forest-worker-messages.ts'

type Finding = GroupFacts['findings'][number]

interface ReadSample {
  readonly tokens: SampleTokens | undefined
  readonly finding: Finding
  readonly lacksCopy: boolean
}

interface BuiltTree {
  readonly tree: GroupTree
  readonly findings: readonly Finding[]
  readonly withoutCopy: readonly string[]
}

/** Largest number of tokens of samples that are kept, so that a growing group reads only the samples that have grown. 12 bytes each. */
const MOST_KEPT_TOKENS = 4_000_000
/** Largest number of nodes of trees that are kept: a change of a label or of the formula then reads nothing. */
const MOST_KEPT_NODES = 50_000

answerRequests<ForestWorkerStart, ForestQuestion, ForestReply>(({ dataFolder }) => {
  const reader = openViewReader(dataFolder)
  const samples = createMemory<ReadSample>(MOST_KEPT_TOKENS)
  const trees = createMemory<BuiltTree>(MOST_KEPT_NODES)

  const sampleOf = (key: string, revision: number): ReadSample => {
    const name = `${revision} ${key}`
    const known = samples.get(name)
    if (known) return known
    const sample = readSample(reader.read(key))
    const count = sample.tokens?.segments.reduce((sum, { ids }) => sum + ids.length, 0) ?? 0
    samples.set(name, sample, count)
    return sample
  }

  const treeOf = (rows: ForestQuestion['rows'], revisions: readonly number[]): BuiltTree => {
    const name = rows.map(({ key }, index) => `${revisions[index]} ${key}`).join('\n')
    const known = trees.get(name)
    if (known) return known
    const read = rows.map(({ key }, index) => sampleOf(key, revisions[index] ?? 0))
    const built = {
      tree: groupTree(read.map(({ tokens }) => tokens)),
      findings: read.map(({ finding }) => finding),
      withoutCopy: rows.flatMap(({ key }, index) => (read[index]?.lacksCopy ? [key] : [])),
    }
    trees.set(name, built, built.tree.nodes.length)
    return built
  }

  return ({ revisions, ...facts }) => {
    const { tree, findings, withoutCopy } = treeOf(facts.rows, revisions)
    return { text: JSON.stringify(groupForest(tree, { ...facts, findings })), withoutCopy }
  }
})

function readSample(stored: StoredView | undefined): ReadSample {
  if (!stored) return { tokens: undefined, finding: { code: 'deleted', message: 'It was deleted.' }, lacksCopy: false }
  const { found, lacksCopy } = stored
  if (typeof found === 'string')
    return { tokens: undefined, finding: { code: 'damaged', message: `It cannot be read: ${found}` }, lacksCopy }
  return { tokens: tokensOf(found), finding: undefined, lacksCopy }
}

/** Copies what a tree needs, because a view keeps the bytes of all columns in memory. */
function tokensOf({ segments, vocab, model }: TrajectoryView): SampleTokens {
  return {
    segments: segments.map(({ kind, ids, logprobs }: SegmentView) => ({
      kind,
      ids: new Int32Array(ids),
      ...(kind === 'response' && logprobs && { logprobs: Float64Array.from(logprobs, (value) => value ?? Number.NaN) }),
    })),
    vocab,
    tokenizer: model.tokenizer && (model.tokenizer.fingerprint ?? model.tokenizer.name),
  }
}
