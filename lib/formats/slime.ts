/**
 * slime's `Sample` as `to_dict()` returns it (slime/utils/types.py): all token ids, and loss mask and logprobs only
 * after the initial prompt. Written like slime's example examples/strands_sglang. Samples have no segments: ours are in
 * `metadata.rollscope`, which slime ignores.
 */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Message, Outcome, OutcomeReason, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { textOf } from '#lib/trajectory/tokens/pieces.ts'
import { toolCallsOf } from '#lib/trajectory/tokens/tokens.ts'
import { schemaViolation, type Violation } from '#lib/util/schema-violation.ts'
import {
  type ColumnRange,
  hasLogprobs,
  idsSchema,
  isFiller,
  lengthViolation,
  logprobsSchema,
  maskBits,
  maskRuns,
  maskSchema,
  ownSegments,
  rangesOfLengths,
  segmentOf,
  segmentsLacked,
  tooManySegments,
} from './columns.ts'
import { promptSegment, responseSegment, textTrajectory } from './conversations/text-trajectory.ts'
import { foreignTrajectory } from './foreign-trajectory.ts'
import type { Format, ReadResult, RecordSource } from './format.ts'
import { firstMessages } from './messages.ts'
import { listDroppedContent, listDroppedForeignFields } from './writing/export-losses.ts'
import { type GroupNumbers, numberGroups } from './writing/group-numbers.ts'
import { responseArrays } from './writing/response-arrays.ts'
import type { TrainingRow } from './writing/training-row.ts'

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
  read,
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

/** Outcomes by status; other statuses stay with the fields that have no place. */
export const outcomes: Readonly<Record<string, Outcome>> = {
  completed: { kind: 'ended', reason: 'end_turn' },
  truncated: { kind: 'ended', reason: 'truncated' },
  aborted: { kind: 'ended', reason: 'aborted' },
  failed: { kind: 'failed', code: 'SLIME_FAILED', message: 'slime marked this sample as failed.' },
  pending: { kind: 'ended', reason: 'unknown' },
}

const sampleSchema = z.looseObject({
  tokens: idsSchema,
  response_length: z.nullish(z.int().check(z.minimum(0))),
  loss_mask: z.nullish(maskSchema),
  rollout_log_probs: z.nullish(logprobsSchema),
  weight_versions: z.nullish(z.array(z.string())),
  group_index: z.nullish(z.int()),
  index: z.nullish(z.int()),
  status: z.nullish(z.string()),
})
type Sample = z.infer<typeof sampleSchema>

function read(value: unknown, source: RecordSource): ReadResult {
  if (!Array.isArray((value as JsonObject).tokens)) return textOnly(value as JsonObject, source)
  const parsed = sampleSchema.safeParse(value)
  if (!parsed.success) return { ok: false, error: schemaViolation(parsed.error, value) }
  const sample = parsed.data
  const responseLength = sample.response_length ?? sample.loss_mask?.length ?? sample.rollout_log_probs?.length
  const error = lengthError(sample, responseLength)
  if (error) return { ok: false, error }
  const promptLength = sample.tokens.length - (responseLength as number)
  const mask = sample.loss_mask ? maskBits(sample.loss_mask) : sample.tokens.slice(promptLength).map(() => 1 as const)
  const columns = {
    ids: sample.tokens,
    mask,
    logprobs: sample.rollout_log_probs,
    promptLength,
    hasFillers: true,
  }
  const fillers = mask.reduce<number>((sum, _, index) => sum + (isFiller(columns, index) ? 1 : 0), 0)
  const own = ownSegments(sample.metadata, sample.tokens.length)
  const info = own && initialLength(own) === promptLength ? own : undefined
  const parts: readonly ColumnRange[] = info
    ? rangesOfLengths(info)
    : [
        ...rangesOfLengths(promptLength > 0 ? [[false, promptLength]] : []),
        ...maskRuns(mask).map(({ isOutput, start, end }) => ({
          isOutput,
          start: start + promptLength,
          end: end + promptLength,
        })),
      ]
  const tooMany = tooManySegments(parts, 'loss_mask')
  if (tooMany) return { ok: false, error: tooMany }
  const messages = promptMessages(sample.prompt)
  const segments = withVersions(
    parts.map((part) => segmentOf(part, columns)),
    sample.weight_versions ?? [],
  ).map((segment, index) => (index === 0 && segment.kind === 'prompt' ? { ...segment, messages } : segment))
  const outcome = outcomeOf(sample.status)
  const group = groupOf(sample)
  return {
    ok: true,
    trajectories: [
      foreignTrajectory(
        {
          format: NAME,
          segments,
          outcome: outcome ?? { kind: 'ended', reason: 'unknown' },
          reward: sample.reward,
          lacked: [
            ...(info ? [] : [segmentsLacked(sample.metadata)]),
            ...(sample.loss_mask ? [] : ['loss mask: the whole response counts as trained']),
            ...(hasLogprobs(segments) ? ['logprobs of the first prompt'] : ['logprobs']),
            ...(fillers > 0 ? [`logprobs of ${fillers} tokens that are not trained: slime writes 0.0 there`] : []),
          ],
          ...(group && { group }),
          rest: restOf(sample, outcome !== undefined, group !== undefined),
        },
        source,
      ),
    ],
  }
}

/** A sample before generation, or of a dump without ids, has only texts. */
function textOnly(sample: JsonObject, source: RecordSource): ReadResult {
  const { group_index, index, status, reward } = sample
  const outcome = outcomeOf(typeof status === 'string' ? status : undefined)
  const group =
    Number.isSafeInteger(group_index) && Number.isSafeInteger(index)
      ? groupOf({ tokens: [], group_index: group_index as number, index: index as number })
      : undefined
  const messages = promptMessages(sample.prompt)
  return {
    ok: true,
    trajectories: [
      textTrajectory(
        {
          format: NAME,
          segments: [
            ...(messages.length > 0 ? [promptSegment(messages)] : []),
            responseSegment({ role: 'assistant', content: sample.response }),
          ],
          outcome,
          reward,
          ...(group && { group }),
          rest: without(sample, [
            ...['prompt', 'response'],
            ...(outcome ? ['status'] : []),
            ...(group ? ['group_index', 'index'] : []),
            ...(typeof reward === 'number' ? ['reward'] : []),
          ]),
        },
        source,
      ),
    ],
  }
}

function lengthError(sample: Sample, responseLength: number | undefined): Violation | undefined {
  const { tokens } = sample
  if (responseLength === undefined)
    return { path: 'response_length', expected: 'the number of tokens after the initial prompt', found: 'nothing' }
  if (responseLength > tokens.length)
    return {
      path: 'response_length',
      expected: `at most ${tokens.length} (the number of its tokens)`,
      found: String(responseLength),
    }
  const { loss_mask, rollout_log_probs } = sample
  return lengthViolation({ loss_mask, rollout_log_probs }, responseLength, ' of the response')
}

const initialLength = ([first]: readonly (readonly [boolean, number])[]): number => (first && !first[0] ? first[1] : 0)

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

/** Returns the outcome of a status, also of the enumeration member as Python prints it; undefined for an unknown status. */
export function outcomeOf(status: string | null | undefined): Outcome | undefined {
  const name = (status ?? 'pending').replace(/^.*\./, '').toLowerCase()
  return Object.hasOwn(outcomes, name) ? outcomes[name] : undefined
}

function groupOf({ group_index, index }: Sample): Trajectory['group'] {
  return typeof group_index === 'number' && typeof index === 'number' && index >= 0
    ? { id: String(group_index), index }
    : undefined
}

/** Returns content without a field. Texts and metadata stay, so a sample that is written again is unchanged. */
function restOf(sample: Sample, hasOutcome: boolean, hasGroup: boolean): JsonObject | undefined {
  const taken = [
    'tokens',
    'response_length',
    'loss_mask',
    'rollout_log_probs',
    ...(hasOutcome ? ['status'] : []),
    ...(hasGroup ? ['group_index', 'index'] : []),
    ...(typeof sample.reward === 'number' ? ['reward'] : []),
  ]
  const metadata = isObject(sample.metadata) ? { metadata: without(sample.metadata, ['rollscope']) ?? {} } : {}
  return without({ ...sample, ...metadata }, taken)
}

function write(trajectory: Trajectory, groups: GroupNumbers = numberGroups([trajectory.group])) {
  const { segments, vocab, outcome, model, group } = trajectory
  const numbers = group && groups(group)
  const own = trajectory.foreign?.[NAME] ?? {}
  const info = segments.map(({ kind, ids }) => [kind === 'response', ids.length] as const)
  const promptLength = initialLength(info)
  const { prompt, response, mask, logprobs, lost } = responseArrays(trajectory, NAME, promptLength)
  const hasTexts = response.every((id) => Object.hasOwn(vocab, id))
  const versions = segments.flatMap((segment) =>
    segment.kind === 'response' ? (segment.weightVersions ?? []).map(({ version }) => version) : [],
  )
  const calls = toolCallsOf(trajectory)
  const value = {
    group_index: numbers?.groupIndex ?? null,
    index: numbers?.index ?? null,
    prompt: question(segments),
    label: null,
    ...(model.parser !== undefined && { tool_iters: iterations(segments), tool_calls: calls.length }),
    ...own,
    tokens: [...prompt, ...response],
    response: hasTexts ? textOf(response, vocab) : (own.response ?? ''),
    response_length: response.length,
    reward: trajectory.reward ?? own.reward ?? null,
    loss_mask: mask,
    rollout_log_probs: logprobs ?? null,
    ...(versions.length > 0 && { weight_versions: versions }),
    status: statuses[outcome.kind === 'ended' ? outcome.reason : outcome.kind],
    metadata: { ...(isObject(own.metadata) && own.metadata), rollscope: { segment_info: info } },
  }
  return {
    value,
    lost: [
      ...lost,
      ...(hasTexts || own.response !== undefined ? [] : ['text of the response: no tokenizer was named']),
      ...(value.status === 'truncated' && !isPlainlyTruncated(outcome) ? ['outcome: written as truncated'] : []),
      ...(numbers && String(numbers.groupIndex) !== group?.id ? [GROUP_ID] : []),
      ...listDroppedContent(trajectory, ['reward', 'group', 'outcome', 'weights']),
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
            { kind: 'meant', value: 0, tokens: { start: 0, end: promptLength } },
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
  const asked = first?.kind === 'prompt' ? first.messages.find(({ role }) => role === 'user') : undefined
  const { content = '' } = asked ?? {}
  return typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')
}

const iterations = (segments: readonly Segment[]): number =>
  segments.filter((segment) => segment.kind === 'response' && segment.toolCalls.length > 0).length

const GROUP_ID = 'id of the group: group_index numbers the groups of the file'

const isPlainlyTruncated = (outcome: Outcome): boolean =>
  outcome.kind === 'ended' && (outcome.reason === 'truncated' || outcome.reason === 'length')
