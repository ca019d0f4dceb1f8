/**
 * slime's `Sample` as `to_dict()` returns it (slime/utils/types.py): all token ids, and loss mask and logprobs only
 * after the initial prompt. Written like slime's example examples/strands_sglang. Samples have no segments: ours are in
 * `metadata.rollscope`, which slime ignores.
 */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import { nestedExperts } from '#lib/trajectory/experts/slices.ts'
import type { Message, Outcome, OutcomeReason, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { idsSchema, logprobsSchema, maskSchema, nestedExpertsSchema } from '../columns.ts'
import { promptSegment, responseSegment, textTrajectory } from '../conversations/text-trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { firstMessages } from '../messages.ts'
import { catchRefusals, parsedAt, refuse } from '../reading/record-error.ts'
import {
  GROUP_ID_LOSS,
  listDroppedContent,
  listDroppedForeignFields,
  writableExperts,
} from '../writing/export-losses.ts'
import { numberSamples, type SampleNumbers } from '../writing/group-numbers.ts'
import { responseArrays } from '../writing/response-arrays.ts'
import type { TrainingRow } from '../writing/training-row.ts'
import { initialLength, trainedTrajectory } from './trained-sequence.ts'

const NAME = 'slime'

/** The format of slime samples. */
export const slime: Format = {
  name: NAME,
  label: 'slime',
  keeps: 'Ids, response, loss mask and logprobs after the first prompt, reward, status: a Sample for from_dict.',
  sniff: (value) =>
    isObject(value) &&
    (Array.isArray(value.tokens) || typeof value.response === 'string') &&
    ['response_length', 'rollout_log_probs', 'loss_mask', 'status'].some((key) => key in value),
  read: catchRefusals((value, source) => [read(value, source)]),
  write,
  rows,
}

type Status = 'completed' | 'truncated'

/**
 * Statuses by outcome. completed only for a run that certainly finished: the example uses it for an agent that
 * returned, and truncated for one that raised any exception. Never aborted, because slime discards such samples.
 * docs/formats.md has the same table.
 */
export const statuses: Readonly<Record<OutcomeReason | 'running' | 'failed', Status>> = {
  end_turn: 'completed',
  length: 'truncated',
  context_full: 'truncated',
  cancelled: 'truncated',
  aborted: 'truncated',
  max_tool_iterations: 'truncated',
  max_tool_calls: 'truncated',
  max_messages: 'truncated',
  max_tokens: 'truncated',
  interrupted: 'truncated',
  truncated: 'truncated',
  unknown: 'truncated',
  running: 'truncated',
  failed: 'truncated',
}

const UNKNOWN: Outcome = { kind: 'ended', reason: 'unknown' }

/** Outcomes by status; other statuses stay with the fields that have no place. */
export const outcomes: Readonly<Record<string, Outcome>> = {
  completed: { kind: 'ended', reason: 'end_turn' },
  truncated: { kind: 'ended', reason: 'truncated' },
  aborted: { kind: 'ended', reason: 'aborted' },
  failed: { kind: 'failed', code: 'SLIME_FAILED', message: 'slime marked this sample as failed.' },
  pending: UNKNOWN,
}

const sampleSchema = z.looseObject({
  tokens: idsSchema,
  response_length: z.nullish(z.int().check(z.minimum(0))),
  loss_mask: z.nullish(maskSchema),
  rollout_log_probs: z.nullish(logprobsSchema),
  weight_versions: z.nullish(z.array(z.string())),
  group_index: z.nullish(z.int()),
  index: z.nullish(z.int()),
  rollout_id: z.nullish(z.int()),
  status: z.nullish(z.string()),
  rollout_routed_experts: z.nullish(nestedExpertsSchema),
})
type Sample = z.infer<typeof sampleSchema>

function read(value: unknown, source: RecordSource): Trajectory {
  const record = value as JsonObject
  if (!Array.isArray(record.tokens)) return textOnly(record, source)
  const sample = parsedAt(sampleSchema, value, '')
  const { tokens, loss_mask, rollout_log_probs, status, metadata } = sample
  const responseLength = sample.response_length ?? loss_mask?.length ?? rollout_log_probs?.length
  if (responseLength === undefined)
    return refuse('response_length', 'the number of tokens after the initial prompt', undefined)
  if (responseLength > tokens.length)
    refuse('response_length', `at most ${tokens.length} (the number of its tokens)`, responseLength)
  const outcome = slimeOutcome(status)
  const group = groupOf(sample)
  const trajectory = trainedTrajectory(
    NAME,
    {
      sequence: {
        ids: tokens,
        promptLength: tokens.length - responseLength,
        mask: { field: 'loss_mask', entries: loss_mask },
        logprobs: { field: 'rollout_log_probs', entries: rollout_log_probs },
        hasFillers: true,
        own: metadata,
      },
      promptMessages: promptMessages(sample.prompt),
      experts: { field: 'rollout_routed_experts', written: sample.rollout_routed_experts },
      about: {
        outcome: outcome ?? UNKNOWN,
        reward: sample.reward,
        ...(group && { group }),
        // slime has no other logprobs, so a file that is written again loses no meaning.
        columnMeanings: {},
        rest: restOf(sample, outcome !== undefined, group !== undefined),
      },
    },
    source,
  )
  const segments = withVersions(trajectory.segments, sample.weight_versions ?? [])
  return { ...trajectory, segments }
}

/** A sample before generation, or of a dump without ids, has only texts. */
function textOnly(sample: JsonObject, source: RecordSource): Trajectory {
  const { status, reward } = sample
  const outcome = typeof status === 'string' ? slimeOutcome(status) : undefined
  const group = groupOf(sample)
  const messages = promptMessages(sample.prompt)
  return textTrajectory(
    {
      format: NAME,
      segments: [
        ...(messages.length > 0 ? [promptSegment(messages)] : []),
        responseSegment({ role: 'assistant', content: sample.response }),
      ],
      outcome,
      reward,
      ...(group && { group }),
      rest: without(sample, ['prompt', 'response', ...takenBy(sample, outcome !== undefined, group !== undefined)]),
    },
    source,
  )
}

function promptMessages(prompt: unknown): readonly Message[] {
  if (typeof prompt === 'string') return prompt === '' ? [] : [{ role: 'user', content: prompt }]
  return firstMessages(prompt) ?? []
}

/** One version for each call, if the counts match. */
function withVersions(segments: readonly Segment[], versions: readonly string[]): readonly Segment[] {
  const responses = segments.filter((segment) => segment.kind === 'response').length
  if (versions.length === 0 || responses !== versions.length) return segments
  const next = versions.values()
  return segments.map((segment) =>
    segment.kind === 'prompt'
      ? segment
      : {
          ...segment,
          weightVersions: [{ version: next.next().value as string, start: 0, end: segment.ids.length }],
        },
  )
}

/**
 * Returns the versions of all responses; undefined if they have none. If they are not one for each whole response, but as many as there are
 * responses, the list is empty: `withVersions` would assign them.
 */
function weightVersions(segments: readonly Segment[]) {
  const responses = segments.filter((segment) => segment.kind === 'response')
  const all = responses.flatMap(({ weightVersions = [] }) => weightVersions.map(({ version }) => version))
  if (all.length === 0) return { versions: undefined, areOfWholeResponses: true }
  const areOfWholeResponses = responses.every(
    ({ ids, weightVersions = [] }) => weightVersions[0]?.start === 0 && weightVersions[0].end === ids.length,
  )
  return { versions: areOfWholeResponses || all.length !== responses.length ? all : [], areOfWholeResponses }
}

/** Returns the outcome of a status, also of the enumeration member as Python prints it; undefined for an unknown status. */
export function slimeOutcome(status: string | null | undefined): Outcome | undefined {
  const name = (status ?? 'pending').replace(/^.*\./, '').toLowerCase()
  return Object.hasOwn(outcomes, name) ? outcomes[name] : undefined
}

/** Samples of one rollout share its number in their group. Without a rollout_id, a sample is a rollout. */
function groupOf({ group_index, index, rollout_id }: JsonObject): Trajectory['group'] {
  const number = isNumber(index) && isNumber(rollout_id) ? rollout_id : index
  return Number.isSafeInteger(group_index) && isNumber(number) ? { id: String(group_index), index: number } : undefined
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** Returns content without a field. Texts and metadata stay, so a sample that is written again is unchanged. */
function restOf(sample: Sample, hasOutcome: boolean, hasGroup: boolean): JsonObject | undefined {
  const metadata = isObject(sample.metadata) ? { metadata: without(sample.metadata, ['rollscope']) ?? {} } : {}
  const columns = ['tokens', 'response_length', 'loss_mask', 'rollout_log_probs', 'rollout_routed_experts']
  return without({ ...sample, ...metadata }, [...columns, ...takenBy(sample, hasOutcome, hasGroup)])
}

/** Returns the fields of the labels that the trajectory has. */
const takenBy = ({ reward }: JsonObject, hasOutcome: boolean, hasGroup: boolean): readonly string[] => [
  ...(hasOutcome ? ['status'] : []),
  ...(hasGroup ? ['group_index', 'index', 'rollout_id'] : []),
  ...(typeof reward === 'number' ? ['reward'] : []),
]

function write(trajectory: Trajectory, numbers: SampleNumbers | undefined = numberSamples([trajectory.group])[0]) {
  const { segments, vocab, outcome, model, group } = trajectory
  const own = trajectory.foreign?.[NAME] ?? {}
  const info = segments.map(({ kind, ids }) => [kind === 'response', ids.length] as const)
  const promptLength = initialLength(info)
  const { prompt, response, mask, logprobs, losses } = responseArrays(trajectory, NAME, promptLength)
  const hasTexts = response.every((id) => Object.hasOwn(vocab, id))
  const { versions, areOfWholeResponses } = weightVersions(segments)
  const calls = toolCallsOf(trajectory)
  const experts = nestedExperts(trajectory)
  const value = {
    group_index: numbers?.groupIndex ?? null,
    index: numbers?.index ?? null,
    prompt: question(segments),
    label: null,
    ...(model.parser !== undefined && { tool_iters: iterations(segments), tool_calls: calls.length }),
    ...own,
    ...(numbers && { rollout_id: numbers.rollout ?? null }),
    tokens: [...prompt, ...response],
    response: hasTexts ? textOf(response, vocab) : (own.response ?? ''),
    response_length: response.length,
    reward: trajectory.reward ?? own.reward ?? null,
    loss_mask: mask,
    rollout_log_probs: logprobs ?? null,
    ...(versions && { weight_versions: versions }),
    ...(experts && { rollout_routed_experts: experts }),
    status: statuses[outcome.kind === 'ended' ? outcome.reason : outcome.kind],
    metadata: { ...(isObject(own.metadata) && own.metadata), rollscope: { segment_info: info } },
  }
  return {
    value,
    losses: [
      ...losses,
      ...(hasTexts || own.response !== undefined ? [] : ['text of the response: no tokenizer was named']),
      ...(value.status === 'truncated' && !isPlainlyTruncated(outcome) ? ['outcome: written as truncated'] : []),
      ...(numbers && String(numbers.groupIndex) !== group?.id ? [GROUP_ID_LOSS] : []),
      ...(areOfWholeResponses ? [] : ['which tokens each weight version sampled']),
      ...listDroppedContent(trajectory, ['reward', 'group', 'outcome', 'weights', ...writableExperts(experts)]),
      ...listDroppedForeignFields(trajectory, NAME),
    ],
  }
}

/** The mask and the logprobs begin after the initial prompt, which slime never trains. */
function rows(record: object): readonly TrainingRow[] {
  const { tokens, response_length, rollout_log_probs } = record as ReturnType<typeof write>['value']
  const promptLength = tokens.length - response_length
  const response = { start: promptLength, end: tokens.length }
  return [
    {
      fields: [
        {
          name: 'tokens',
          meaning: 'ids',
          parts: [{ kind: 'array', path: ['tokens'], tokens: { ...response, start: 0 } }],
        },
        {
          name: 'loss_mask',
          meaning: 'mask',
          parts: [
            { kind: 'implied', value: 0, tokens: { start: 0, end: promptLength } },
            { kind: 'array', path: ['loss_mask'], tokens: response },
          ],
        },
        {
          name: 'rollout_log_probs',
          meaning: 'logprobs',
          parts: rollout_log_probs ? [{ kind: 'array', path: ['rollout_log_probs'], tokens: response }] : [],
        },
      ],
      lengths: [
        { name: 'response_length', path: ['response_length'], tokens: response },
        {
          name: 'metadata.rollscope.segment_info',
          path: ['metadata', 'rollscope', 'segment_info'],
          tokens: { ...response, start: 0 },
        },
      ],
    },
  ]
}

/** Returns the text of the question without the system prompt, as in the example. */
function question(segments: readonly Segment[]): string {
  const [first] = segments
  const userMessage = first?.kind === 'prompt' ? first.messages.find(({ role }) => role === 'user') : undefined
  const { content = '' } = userMessage ?? {}
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')
}

const iterations = (segments: readonly Segment[]): number =>
  segments.filter((segment) => segment.kind === 'response' && segment.toolCalls.length > 0).length

const isPlainlyTruncated = (outcome: Outcome): boolean =>
  outcome.kind === 'ended' && (outcome.reason === 'truncated' || outcome.reason === 'length')
