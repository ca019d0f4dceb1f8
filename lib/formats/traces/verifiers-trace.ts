/**
 * A trace of verifiers (Trace v1): a tree of messages, each with the tokens that it adds to those of its parent. verifiers trains
 * each path from the root to a leaf, so each becomes a trajectory. A path that leaves another one names the first token that
 * differs: the same message encoded again is a live case of retokenization drift.
 */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type {
  Finish,
  ForkedFrom,
  Message,
  Outcome,
  ResponseSegment,
  Segment,
  Trajectory,
} from '#lib/trajectory/format/trajectory.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { elementAt } from '#lib/util/element-at.ts'
import {
  hasLogprobs,
  idsSchema,
  type LogprobAsWritten,
  lengthViolation,
  logprobsSchema,
  maskBits,
  maskSchema,
  type NumberColumns,
  segmentOf,
} from '../columns.ts'
import { foreignTrajectory, isoTime } from '../foreign-trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { nextGroupMember } from '../group-members.ts'
import { readMessages, readTools } from '../messages.ts'
import { type ColumnName, meaningOf } from '../number-columns.ts'
import { catchRefusals, joinedPath, parsedAt, readAt, refuse, refuseIf } from '../reading/record-error.ts'

const NAME = 'verifiers'

/** The format of verifiers traces. */
export const verifiersTrace: Format = {
  name: NAME,
  label: 'verifiers',
  keeps: 'Each path of the tree: ids, loss mask, logprobs, advantages, messages, reward and group.',
  sniff: (value) => isObject(value) && (isTrace(value) || (Array.isArray(value.traces) && isTrace(value.traces[0]))),
  read: catchRefusals((value, source) => {
    const { traces } = value as JsonObject
    return isTrace(value)
      ? trajectoriesIn(value, '', source)
      : (traces as readonly unknown[]).flatMap((trace, number) => trajectoriesIn(trace, `traces[${number}]`, source))
  }),
}

const isTrace = (value: unknown): boolean =>
  isObject(value) && Array.isArray(value.nodes) && (isObject(value.verifiers) || isObject(value.nodes[0]))

/** Columns with one number for each sampled token of a node. */
const SAMPLED_NUMBERS = {
  advantages: 'advantage',
  reference_logprobs: 'referenceLogprobs',
  trainer_logprobs: 'trainerLogprobs',
  entropies: 'entropy',
} as const satisfies Readonly<Record<string, ColumnName>>
type SampledField = keyof typeof SAMPLED_NUMBERS
const SAMPLED_FIELDS = Object.keys(SAMPLED_NUMBERS) as readonly SampledField[]

const index = z.int().check(z.minimum(0))
const nodeSchema = z.looseObject({
  parent: z.nullish(index),
  message: z.looseObject({ role: z.string() }),
  sampled: z.nullish(z.boolean()),
  token_ids: z.nullish(idsSchema),
  mask: z.nullish(maskSchema),
  logprobs: z.nullish(logprobsSchema),
  advantages: z.nullish(logprobsSchema),
  reference_logprobs: z.nullish(logprobsSchema),
  trainer_logprobs: z.nullish(logprobsSchema),
  entropies: z.nullish(logprobsSchema),
  loss_weights: z.nullish(z.record(z.string(), logprobsSchema)),
  semantic_parents: z.nullish(z.array(z.looseObject({ node: index, type: z.string() }))),
})
const callSchema = z.looseObject({
  node: z.nullish(index),
  model: z.nullish(z.string()),
  sampling: z.nullish(z.looseObject({ temperature: z.nullish(z.number()) })),
  finish_reason: z.nullish(z.string()),
  usage: z.nullish(z.looseObject({ prompt_tokens: z.nullish(index), completion_tokens: z.nullish(index) })),
  time: z.nullish(z.looseObject({ start: z.number(), end: z.number() })),
})
const traceSchema = z.looseObject({
  nodes: z.array(nodeSchema),
  calls: z.nullish(z.array(callSchema)),
  task: z.nullish(z.looseObject({ key: z.nullish(z.string()) })),
  rewards: z.nullish(
    z.record(z.string(), z.nullable(z.looseObject({ score: z.number(), weight: z.nullish(z.number()) }))),
  ),
})
type Node = z.infer<typeof nodeSchema>
type Call = z.infer<typeof callSchema>
type Trace = z.infer<typeof traceSchema>

const idsOf = ({ token_ids }: Node): readonly number[] => token_ids ?? []
const maskOf = (node: Node): readonly (0 | 1)[] => (node.mask ? maskBits(node.mask) : idsOf(node).map(() => 0 as const))

function trajectoriesIn(value: unknown, path: string, source: RecordSource): readonly Trajectory[] {
  const trace = parsedAt(traceSchema, value, path)
  for (const [number, node] of trace.nodes.entries())
    readAt(joinedPath(path, `nodes[${number}]`), () => checkNode(node, number))
  return branchesOf(trace, source)
}

/** Refuses a node that is no part of a tree, or whose columns do not fit its tokens. */
function checkNode(node: Node, number: number): void {
  if (typeof node.parent === 'number' && node.parent >= number)
    refuse('parent', 'the number of an earlier node', node.parent)
  const mask = node.mask && node.mask.length > 0 ? node.mask : undefined
  const weights = Object.entries(node.loss_weights ?? {}).map(([name, column]) => [`loss_weights.${name}`, column])
  refuseIf(lengthViolation({ mask, ...Object.fromEntries(weights) }, idsOf(node).length, ' of the node'))
  const sampled = maskOf(node).reduce<number>((sum, bit) => sum + bit, 0)
  // An empty list means that the node has none, for example because another model sampled it.
  const columns = (['logprobs', ...SAMPLED_FIELDS] as const).flatMap((field) =>
    node[field]?.length ? [[field, node[field]]] : [],
  )
  refuseIf(lengthViolation(Object.fromEntries(columns), sampled, ' that the mask of the node marks'))
}

interface Branch {
  /** Numbers of the nodes, from the root to the leaf. */
  readonly path: readonly number[]
  readonly id: string
}

function branchesOf(trace: Trace, source: RecordSource): readonly Trajectory[] {
  const parents = new Set(trace.nodes.map(({ parent }) => parent))
  const branches = trace.nodes.flatMap((_, leaf) =>
    parents.has(leaf) ? [] : [{ path: pathTo(leaf, trace), id: source.newId() }],
  )
  const group = typeof trace.task?.key === 'string' ? nextGroupMember(source, trace.task.key) : undefined
  return branches.map((branch, number) => ({
    ...trajectoryOf(branch, branches.slice(0, number), trace, source),
    ...(group && { group }),
  }))
}

function pathTo(leaf: number, { nodes }: Trace): readonly number[] {
  const path: number[] = []
  for (let at: number | null | undefined = leaf; typeof at === 'number'; at = nodes[at]?.parent) path.push(at)
  return path.reverse()
}

function trajectoryOf(branch: Branch, earlier: readonly Branch[], trace: Trace, source: RecordSource): Trajectory {
  const { nodes } = trace
  const path = branch.path.map((number) => elementAt(nodes, number))
  const calls = new Map((trace.calls ?? []).map((call) => [call.node, call]))
  const segments = segmentsOf(branch.path, trace, calls)
  const isLast = branch.path.includes(nodes.length - 1)
  const temperatures = new Set(branch.path.flatMap((number) => calls.get(number)?.sampling?.temperature ?? []))
  const [temperature] = temperatures.size === 1 ? temperatures : []
  const reward = rewardOf(trace)
  const forkedFrom = forkOf(branch, earlier, trace)
  const isDropped = isUnusedCompaction(branch, trace)
  const { agent, timing, task } = trace as JsonObject
  return foreignTrajectory(
    {
      format: NAME,
      segments,
      outcome: isLast ? outcomeOf(trace) : { kind: 'ended', reason: 'unknown' },
      reward,
      lacked: [
        ...(hasLogprobs(segments) ? ['logprobs of the prompts'] : ['logprobs']),
        ...(reward === undefined ? ['reward'] : []),
        ...(isLast ? [] : ['outcome of this path: the trace continues on another one']),
        ...(path.some((node) => idsOf(node).length === 0) ? ['token ids of some messages'] : []),
      ],
      missing: path.every((node) => idsOf(node).length === 0) ? ['ids'] : [],
      createdAt: isObject(timing) ? isoTime(timing.start) : undefined,
      modelName: modelOf(agent, trace.calls ?? []),
      tools: readTools(path[0]?.tools) ?? readTools(trace.tools),
      columnMeanings: {
        ...(hasLogprobs(segments) && {
          logprobs: meaningOf('logprobs', 'nodes[].logprobs', temperature === undefined ? {} : { temperature }),
        }),
        ...Object.fromEntries(
          SAMPLED_FIELDS.filter((field) => path.some((node) => node[field])).map((field) => [
            SAMPLED_NUMBERS[field],
            meaningOf(SAMPLED_NUMBERS[field], `nodes[].${field}`),
          ]),
        ),
        ...Object.fromEntries(
          weightNames(path).map((name) => [
            `lossWeight.${name}`,
            meaningOf('lossWeight', `nodes[].loss_weights.${name}`),
          ]),
        ),
      },
      ...(forkedFrom && { forkedFrom }),
      ...(isDropped && {
        problems: [
          {
            kind: 'file',
            message:
              'verifiers does not train this path: it is a summary of the context from which the agent did not continue.',
          },
        ],
      }),
      rest: without({ ...trace, ...(isObject(task) && { task }) }, ['nodes', 'tools']),
    },
    source,
    branch.id,
  )
}

interface MessageRange {
  readonly isOutput: boolean
  readonly start: number
  end: number
  readonly messages: Message[]
  /** The node of a response. */
  readonly node?: number
}

/** Unsampled tokens belong to the prompt of the next response, also those that a sampled message has around its sampled ones. */
function rangesOf(path: readonly number[], { nodes }: Trace): readonly MessageRange[] {
  const ranges: MessageRange[] = []
  let offset = 0
  const extendPrompt = (end: number, messages: readonly Message[]) => {
    const last = ranges.at(-1)
    if (last && !last.isOutput) {
      last.end = end
      last.messages.push(...messages)
    } else if (end > (last?.end ?? 0) || messages.length > 0)
      ranges.push({ isOutput: false, start: last?.end ?? 0, end, messages: [...messages] })
  }
  for (const number of path) {
    const node = elementAt(nodes, number)
    const mask = maskOf(node)
    const start = mask.indexOf(1)
    const end = offset + idsOf(node).length
    if (start >= 0) {
      extendPrompt(offset + start, [])
      ranges.push({
        isOutput: true,
        start: offset + start,
        end: offset + mask.lastIndexOf(1) + 1,
        messages: [],
        node: number,
      })
      extendPrompt(end, [])
    } else if (node.sampled === true && idsOf(node).length === 0)
      ranges.push({ isOutput: true, start: offset, end: offset, messages: [], node: number })
    else extendPrompt(end, readMessages([node.message]) ?? [])
    offset = end
  }
  return ranges
}

function segmentsOf(path: readonly number[], trace: Trace, calls: ReadonlyMap<Call['node'], Call>): readonly Segment[] {
  const nodes = path.map((number) => elementAt(trace.nodes, number))
  const fields = SAMPLED_FIELDS.filter((field) => nodes.some((node) => node[field]))
  const columns = {
    ids: nodes.flatMap(idsOf),
    mask: nodes.flatMap(maskOf),
    logprobs: nodes.flatMap((node) => spread(node.logprobs, node)),
    numbers: {
      ...Object.fromEntries(
        fields.map((field) => [SAMPLED_NUMBERS[field], nodes.flatMap((node) => spread(node[field], node))]),
      ),
      ...Object.fromEntries(
        weightNames(nodes).map((name) => [
          `lossWeight.${name}`,
          nodes.flatMap((node) => node.loss_weights?.[name] ?? idsOf(node).map(() => null)),
        ]),
      ),
    } satisfies NumberColumns,
  }
  return rangesOf(path, trace).map((range) => {
    const segment = segmentOf(range, columns)
    if (segment.kind === 'prompt') return { ...segment, messages: range.messages }
    const node = elementAt(trace.nodes, range.node as number)
    return { ...segment, ...aboutResponse(node, calls.get(range.node)) }
  })
}

const weightNames = (nodes: readonly Node[]): readonly string[] => [
  ...new Set(nodes.flatMap(({ loss_weights }) => Object.keys(loss_weights ?? {}))),
]

/** Returns numbers of sampled tokens as numbers of all tokens of the node. */
function spread(numbers: readonly LogprobAsWritten[] | null | undefined, node: Node): readonly LogprobAsWritten[] {
  const next = (numbers ?? []).values()
  return maskOf(node).map((bit) => (bit === 1 ? (next.next().value ?? null) : null))
}

type ResponseFacts = Pick<ResponseSegment, 'message' | 'finish' | 'usage' | 'timing'>

function aboutResponse({ message }: Node, call: Call | undefined): ResponseFacts {
  const { finish_reason: reason, usage, time } = call ?? {}
  const startedAt = isoTime(time?.start)
  return {
    message,
    ...(typeof reason === 'string' && { finish: finishOf(reason) }),
    ...(usage && {
      usage: {
        ...(typeof usage.prompt_tokens === 'number' && { promptTokens: usage.prompt_tokens }),
        ...(typeof usage.completion_tokens === 'number' && { completionTokens: usage.completion_tokens }),
      },
    }),
    ...(time &&
      startedAt !== undefined &&
      time.end >= time.start && { timing: { startedAt, elapsedMs: (time.end - time.start) * 1000 } }),
  }
}

function finishOf(reason: string): Finish {
  if (reason === 'stop' || reason === 'tool_calls') return { kind: 'stop' }
  return reason === 'length' ? { kind: 'length' } : { kind: 'unknown', raw: reason }
}

/** As `Trace.reward`: the weighted sum. A trace without scores has no reward here, where verifiers gives 0. */
function rewardOf({ rewards }: Trace): number | undefined {
  const scored = Object.values(rewards ?? {}).flatMap((reward) => reward ?? [])
  return scored.length === 0 ? undefined : scored.reduce((sum, { score, weight }) => sum + score * (weight ?? 1), 0)
}

const LIMIT_REACHED = ['max_turns', 'max_input_tokens', 'max_output_tokens', 'max_total_tokens', 'compaction_failed']

/** As `Trace.is_truncated` and `Trace.last_error`. */
function outcomeOf(trace: Trace): Outcome {
  const { errors, stop_condition, is_completed, is_timeout } = trace as JsonObject
  const last: unknown = Array.isArray(errors) ? errors.at(-1) : undefined
  if (isObject(last))
    return {
      kind: 'failed',
      code: typeof last.type === 'string' ? last.type : 'VERIFIERS_ERROR',
      message: typeof last.message === 'string' ? last.message : 'The trace has an error without a message.',
    }
  if (trace.calls?.at(-1)?.finish_reason === 'length') return { kind: 'ended', reason: 'length' }
  if (is_timeout === true || LIMIT_REACHED.includes(String(stop_condition)))
    return { kind: 'ended', reason: 'truncated' }
  return { kind: 'ended', reason: is_completed === true ? 'end_turn' : 'unknown' }
}

function modelOf(agent: unknown, calls: readonly Call[]): string | undefined {
  const config = isObject(agent) ? agent.config : undefined
  const configured = isObject(config) ? config.model : undefined
  return typeof configured === 'string' ? configured : (calls.find(({ model }) => model)?.model ?? undefined)
}

/** As `Trace.branches`: a summary of the context is trained only if the agent continued from it. */
function isUnusedCompaction({ path }: Branch, { nodes }: Trace): boolean {
  const leaf = elementAt(path, path.length - 1)
  const isAttempt = nodes[leaf]?.semantic_parents?.some(({ type }) => type === 'compaction_attempt') ?? false
  return (
    isAttempt &&
    !nodes.some(({ semantic_parents: links }) =>
      links?.some(({ node, type }) => type === 'compaction' && node === leaf),
    )
  )
}

/** Returns the fork from the earlier path with which the path shares the most messages. */
function forkOf({ path }: Branch, earlier: readonly Branch[], { nodes }: Trace): ForkedFrom | undefined {
  let best: { readonly other: Branch; readonly shared: number } | undefined
  for (const other of earlier) {
    const shared = commonIds(other.path, path)
    if (shared > (best?.shared ?? 0)) best = { other, shared }
  }
  if (!best) return undefined
  const { other, shared } = best
  const nodesFrom = (numbers: readonly number[]) => numbers.map((number) => elementAt(nodes, number))
  const before = nodesFrom(path.slice(0, shared)).reduce((sum, node) => sum + idsOf(node).length, 0)
  const [theirs, ours] = [nodesFrom(other.path.slice(shared)), nodesFrom(path.slice(shared))]
  const token = before + commonIds(theirs.flatMap(idsOf), ours.flatMap(idsOf))
  return { trajectory: other.id, token, kind: forkKind(theirs[0], ours[0]) }
}

function forkKind(theirs: Node | undefined, ours: Node | undefined): ForkedFrom['kind'] {
  if (theirs?.sampled === true && ours?.sampled === true) return 'sampled_again'
  if (JSON.stringify(theirs?.message) === JSON.stringify(ours?.message)) return 'rendered_again'
  return ours?.message.role === 'tool' && theirs?.message.role === 'tool' ? 'tool_result' : 'message'
}
