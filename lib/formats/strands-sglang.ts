/**
 * The record of strands-sglang: `Rollout` since 0.4.1 (`model_dump_json()`), before that dumped attributes of
 * `TokenManager`: with `output_mask` for `loss_mask`, `segments` or `tokens` of Token objects, or only
 * `initial_prompt_length`. It may be the whole value or under a key of another object, next to messages and a reward.
 */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import { expertSlices, withExpertSlices } from '#lib/trajectory/experts/slices.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { imageDataOf } from '#lib/trajectory/images/image-boxes.ts'
import { ids, logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { fieldPathText, type Violation } from '#lib/util/schema-violation.ts'
import {
  type ColumnRange,
  type Columns,
  contradiction,
  hasLogprobs,
  idSchema,
  idsSchema,
  lengthViolation,
  logprobSchema,
  logprobsSchema,
  maskBits,
  maskEntrySchema,
  maskRuns,
  maskSchema,
  rangesOfLengths,
  segmentOf,
  tooManySegments,
} from './columns.ts'
import { foreignTrajectory } from './foreign-trajectory.ts'
import type { Format, RecordSource } from './format.ts'
import { withMessages } from './messages.ts'
import { catchRefusals, parsedAt, readAt, refuseIf } from './reading/record-error.ts'
import { listDroppedContent, listDroppedForeignFields, writableExperts } from './writing/export-losses.ts'
import type { TokenField } from './writing/training-row.ts'

const NAME = 'strands-sglang'

/** The format of strands-sglang rollouts. */
export const strandsSglang: Format = {
  name: NAME,
  label: 'strands-sglang',
  keeps: 'Ids, loss mask, logprobs, segments, routed experts, images: a Rollout for model_validate_json.',
  sniff: (value) => recordIn(value) !== undefined,
  read: catchRefusals((value, source) => [read(value, source)]),
  write: (trajectory) => {
    const experts = trajectory.routedExperts ?? expertSlices(trajectory)
    return {
      value: rolloutOf(trajectory, experts),
      losses: [
        ...listDroppedContent(trajectory, [...writableExperts(experts), 'images']),
        ...listDroppedForeignFields(trajectory, ''),
      ],
    }
  },
  rows: (record) => {
    const tokens = { start: 0, end: (record as ReturnType<typeof rolloutOf>).token_ids.length }
    const whole = (name: string, meaning: TokenField['meaning']): TokenField => ({
      name,
      meaning,
      parts: [{ kind: 'array', path: [name], tokens }],
    })
    return [
      {
        fields: [whole('token_ids', 'ids'), whole('loss_mask', 'mask'), whole('logprobs', 'logprobs')],
        lengths: [{ name: 'segment_info', path: ['segment_info'], tokens }],
      },
    ]
  },
}

const rolloutOf = (trajectory: Trajectory, experts: readonly string[] = []) => ({
  token_ids: ids(trajectory),
  loss_mask: lossMask(trajectory),
  logprobs: logprobs(trajectory),
  routed_experts: experts,
  image_data: imageDataOf(trajectory),
  segment_info: trajectory.segments.map((segment) => [segment.kind === 'response', segment.ids.length]),
})

const tokenSchema = z.looseObject({
  token_id: idSchema,
  logprob: z.nullish(logprobSchema),
  loss_mask: z.nullish(maskEntrySchema),
})
const recordShape = {
  token_ids: z.nullish(idsSchema),
  tokens: z.nullish(z.array(tokenSchema)),
  loss_mask: z.nullish(maskSchema),
  output_mask: z.nullish(maskSchema),
  logprobs: z.nullish(logprobsSchema),
  segment_info: z.nullish(z.array(z.tuple([maskEntrySchema, z.int().check(z.minimum(0))]))),
  segments: z.nullish(z.array(z.array(tokenSchema))),
  initial_prompt_length: z.nullish(z.int().check(z.minimum(0))),
  initial_prompt: z.nullish(z.array(tokenSchema)),
  routed_experts: z.nullish(z.array(z.string())),
  image_data: z.nullish(z.array(z.string())),
}
const recordSchema = z.looseObject(recordShape)
type StrandsRecord = z.infer<typeof recordSchema>

/** No key, a name, or the place in a list. Other keys are quoted in a path. */
const READABLE_KEY = /^([\w$-]+(\[\d+\])?)?$/

interface RecordIn {
  /** The key of the record; '' if it is the value itself. */
  readonly key: string
  readonly record: JsonObject
}

function recordIn(value: unknown): RecordIn | undefined {
  if (!isObject(value)) return undefined
  if (isRecord(value)) return { key: '', record: value }
  return Object.entries(value).flatMap(([key, record]) => (isRecord(record) ? [{ key, record }] : []))[0]
}

function isRecord(value: unknown): value is JsonObject {
  if (!isObject(value)) return false
  return Array.isArray(value.token_ids) || startsWithToken(value.tokens) || startsWithToken(first(value.segments))
}

const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : undefined)

function startsWithToken(value: unknown): boolean {
  const token = first(value)
  return isObject(token) && 'token_id' in token
}

function read(value: unknown, source: RecordSource): Trajectory {
  const { key, record } = recordIn(value) as RecordIn
  const path = READABLE_KEY.test(key) ? key : fieldPathText([key])
  const parsed = parsedAt(recordSchema, record, path)
  const columns = columnsOf(parsed)
  const parts = columnRangesOf(parsed, columns)
  readAt(path, () =>
    refuseIf(
      lengthError(parsed, columns.ids.length, parts.at(-1)?.end ?? 0) ??
        contradictionIn(parsed) ??
        tooManySegments(parts, parsed.segment_info ? 'segment_info' : 'loss_mask'),
    ),
  )
  const around = key === '' ? (value as JsonObject) : (without(value as JsonObject, [key]) ?? {})
  const bare = parts.map((part) => segmentOf(part, columns))
  const segments = withMessages(bare, around.messages) ?? bare
  const routed = withExpertSlices(segments, parsed.routed_experts ?? [])
  return foreignTrajectory(
    {
      format: NAME,
      segments: routed ?? segments,
      outcome: { kind: 'ended', reason: 'unknown' },
      reward: around.reward,
      lacked: [
        ...(segments === bare ? ['messages'] : []),
        'outcome',
        ...(hasLogprobs(segments) ? [] : ['logprobs']),
        ...(columns.mask ? [] : ['loss mask: taken from the segments']),
        ...(parsed.segment_info || parsed.segments ? [] : ['segments: taken from the loss mask']),
      ],
      routedExperts: routed ? undefined : (parsed.routed_experts ?? undefined),
      imageData: parsed.image_data ?? undefined,
      rest: restOf(around, key, record, segments !== bare),
    },
    source,
  )
}

function lengthError(record: StrandsRecord, tokens: number, inSegments: number): Violation | undefined {
  const { loss_mask, output_mask, logprobs } = record
  const violation = lengthViolation({ loss_mask, output_mask, logprobs }, tokens)
  if (violation) return violation
  if (inSegments === tokens) return undefined
  const path = (['segment_info', 'segments'] as const).find((name) => record[name]) ?? 'initial_prompt_length'
  return { path, expected: `${tokens} tokens in all`, found: String(inSegments) }
}

/** Older versions have columns twice, as arrays and as tokens, which must be equal. */
function contradictionIn(record: StrandsRecord): Violation | undefined {
  const { token_ids, segments, tokens, initial_prompt, initial_prompt_length, segment_info } = record
  const bySegment = segments?.flat()
  const idsIn = (all: typeof tokens) => all?.map(({ token_id }) => token_id)
  const maskIn = (all: typeof tokens) => allPresent((all ?? []).map(({ loss_mask }) => loss_mask))
  const logprobsIn = (all: typeof tokens) => allPresent((all ?? []).map(({ logprob }) => logprob))
  const all = token_ids ?? idsIn(bySegment ?? tokens)
  const [first] = segment_info ?? []
  return (
    contradiction([
      ['token_ids', token_ids],
      ['segments', idsIn(bySegment)],
      ['tokens', idsIn(tokens)],
    ]) ??
    contradiction([
      ['loss_mask', record.loss_mask],
      ['output_mask', record.output_mask],
      ['segments', maskIn(bySegment)],
      ['tokens', maskIn(tokens)],
    ]) ??
    contradiction([
      ['logprobs', record.logprobs],
      ['segments', logprobsIn(bySegment)],
      ['tokens', logprobsIn(tokens)],
    ]) ??
    contradiction([
      ['token_ids', initial_prompt && all?.slice(0, initial_prompt.length)],
      ['initial_prompt', idsIn(initial_prompt)],
    ]) ??
    contradiction([
      ['segment_info', first && !first[0] ? [first[1]] : undefined],
      [
        'initial_prompt_length',
        first && typeof initial_prompt_length === 'number' ? [initial_prompt_length] : undefined,
      ],
    ])
  )
}

function columnsOf(record: StrandsRecord): Columns {
  const tokens = record.segments?.flat() ?? record.tokens ?? []
  const mask = record.loss_mask ?? record.output_mask ?? allPresent(tokens.map(({ loss_mask }) => loss_mask))
  return {
    ids: record.token_ids ?? tokens.map(({ token_id }) => token_id),
    mask: mask && maskBits(mask),
    logprobs: record.logprobs ?? (tokens.length > 0 ? tokens.map(({ logprob }) => logprob ?? null) : undefined),
  }
}

/** Returns the values if every one is present. */
const allPresent = <T>(values: readonly (T | null | undefined)[]): readonly T[] | undefined =>
  values.length > 0 && values.every((value): value is T => value !== null && value !== undefined) ? values : undefined

function columnRangesOf(record: StrandsRecord, { ids, mask }: Columns): readonly ColumnRange[] {
  if (record.segment_info)
    return rangesOfLengths(record.segment_info.map(([isOutput, length]) => [Boolean(isOutput), length] as const))
  if (record.segments)
    return rangesOfLengths(record.segments.map((tokens) => [Boolean(tokens[0]?.loss_mask), tokens.length] as const))
  const prompt = record.initial_prompt_length ?? record.initial_prompt?.length
  if (prompt === undefined) return mask ? maskRuns(mask) : rangesOfLengths([[false, ids.length]])
  if (prompt >= ids.length) return rangesOfLengths([[false, prompt]])
  return [
    ...rangesOfLengths([[false, prompt]]),
    ...(mask ? maskRuns(mask, prompt) : rangesOfLengths([[true, ids.length - prompt]], prompt)),
  ]
}

/** Returns content without a field in a trajectory, at its position in the file. */
function restOf(around: JsonObject, key: string, record: JsonObject, hasMessages: boolean): JsonObject | undefined {
  const taken = [...(typeof around.reward === 'number' ? ['reward'] : []), ...(hasMessages ? ['messages'] : [])]
  const own = Object.keys(recordShape)
  if (key === '') return without(around, [...taken, ...own])
  const inner = without(record, own)
  const outer = without(around, taken)
  return inner || outer ? { ...outer, ...(inner && { [key]: inner }) } : undefined
}
