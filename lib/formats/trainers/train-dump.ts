/**
 * Train dumps of slime and miles (`--save-debug-train-data`), after the conversion of their `.pt` files: tokens, and over the tokens of
 * the response the logprobs of the rollout, of the trainer and of the reference model, advantages, returns, entropies. slime
 * writes `samples` (format_version 2), miles and older versions columns under `rollout_data`.
 */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import { idsSchema, logprobsSchema, maskSchema } from '../columns.ts'
import type { Format } from '../format.ts'
import type { ColumnFields } from '../number-columns.ts'
import { catchRefusals, parsedAt } from '../reading/record-error.ts'
import { refuseUneven, type TrainedSample, trainedTrajectory } from './trained-sequence.ts'

const NAME = 'train-dump'

/** The format of train dumps. */
export const trainDump: Format = {
  name: NAME,
  label: 'train dump (slime, miles)',
  keeps: 'Ids, loss mask, the logprobs of rollout, trainer and reference model, advantages, returns, entropies.',
  sniff: (value) =>
    isObject(value) && (isTrainSample(value) || isTrainSample(samplesOf(value)[0]) || columnsOf(value) !== undefined),
  read: catchRefusals((value, source) =>
    samplesIn(value as JsonObject).map((sample) => trainedTrajectory(NAME, sample, source)),
  ),
}

/** Columns of the response. opd: on-policy distillation. */
const FIELDS: ColumnFields = {
  log_probs: 'trainerLogprobs',
  ref_log_probs: 'referenceLogprobs',
  teacher_log_probs: 'teacherLogprobs',
  advantages: 'advantage',
  returns: 'return',
  values: 'value',
  kl: 'kl',
  opd_reverse_kl: 'teacherKl',
  entropy: 'entropy',
  ref_entropy: 'referenceEntropy',
}

/** The trainer's numbers distinguish it from a Sample with the same field names. */
const isTrainSample = (value: unknown): value is JsonObject =>
  isObject(value) &&
  Array.isArray(value.tokens) &&
  ['log_probs', 'ref_log_probs', 'advantages'].some((key) => Array.isArray(value[key]))

const samplesOf = ({ samples }: JsonObject): readonly unknown[] => (Array.isArray(samples) ? samples : [])

const columnsOf = ({ rollout_data: columns }: JsonObject): JsonObject | undefined =>
  isObject(columns) && Array.isArray(columns.tokens) && Array.isArray(columns.response_lengths) ? columns : undefined

const count = z.int().check(z.minimum(0))
const sampleSchema = z.looseObject({
  tokens: idsSchema,
  response_length: z.nullish(count),
  response_lengths: z.nullish(count),
  loss_mask: z.nullish(maskSchema),
  loss_masks: z.nullish(maskSchema),
  rollout_log_probs: z.nullish(logprobsSchema),
  sample_index: z.nullish(count),
  group_index: z.nullish(z.int()),
  truncated: z.nullish(z.union([z.literal([0, 1]), z.boolean()])),
  weight_versions: z.nullish(z.array(z.unknown())),
})

function samplesIn(record: JsonObject): readonly TrainedSample[] {
  if (isTrainSample(record)) return [sampleOf(record, '')]
  const columns = columnsOf(record)
  return columns
    ? rowsOf(columns).map((row, index) => sampleOf(row, `rollout_data[${index}]`))
    : samplesOf(record).map((sample, index) => sampleOf(sample, `samples[${index}]`))
}

/** Names of the columns of `rollout_data` by their names in a sample. raw_reward is of the whole batch, not of these rows. */
const SINGULAR: Readonly<Record<string, string>> = {
  response_lengths: 'response_length',
  loss_masks: 'loss_mask',
  sample_indices: 'sample_index',
  rewards: 'reward',
  total_lengths: 'total_length',
  rollout_ids: 'rollout_id',
}

/** Returns a record for each sample; other columns belong to the batch. */
function rowsOf(columns: JsonObject): readonly JsonObject[] {
  const rows = (columns.tokens as readonly unknown[]).length
  refuseUneven(columns, [...Object.keys(SINGULAR), ...Object.keys(FIELDS), 'rollout_log_probs'], rows, 'rollout_data')
  const own = Object.entries(columns).filter(
    (entry): entry is [string, readonly unknown[]] =>
      Array.isArray(entry[1]) && entry[1].length === rows && entry[0] !== 'raw_reward',
  )
  return Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(
      own.map(([name, column]) => [Object.hasOwn(SINGULAR, name) ? SINGULAR[name] : name, column[row]]),
    ),
  )
}

function sampleOf(value: unknown, path: string): TrainedSample {
  const sample = parsedAt(sampleSchema, value, path)
  const responseLength =
    sample.response_length ??
    sample.response_lengths ??
    (sample.loss_mask ?? sample.loss_masks)?.length ??
    firstColumn(sample)?.length ??
    sample.tokens.length
  const { sample_index: index, group_index: group, truncated } = sample
  const isTruncated = truncated === true || truncated === 1
  return {
    path,
    sequence: {
      ids: sample.tokens,
      promptLength: sample.tokens.length - responseLength,
      mask: sample.loss_mask
        ? { field: 'loss_mask', entries: sample.loss_mask }
        : { field: 'loss_masks', entries: sample.loss_masks },
      logprobs: { field: 'rollout_log_probs', entries: sample.rollout_log_probs },
      record: sample,
      fields: FIELDS,
      hasFillers: true,
    },
    about: {
      outcome: { kind: 'ended', reason: isTruncated ? 'truncated' : 'unknown' },
      reward: sample.reward,
      ...(typeof group === 'number' && typeof index === 'number' && { group: { id: String(group), index } }),
      title: typeof index === 'number' ? `sample ${index}` : undefined,
      lacked: typeof group === 'number' ? [] : ['group: the rollout dump of the same step has it'],
      rest: without(sample, ['tokens', 'loss_mask', 'loss_masks', 'rollout_log_probs', ...Object.keys(FIELDS)]),
    },
  }
}

/** Returns the first column of the response. */
const firstColumn = (sample: JsonObject): readonly unknown[] | undefined =>
  ['rollout_log_probs', ...Object.keys(FIELDS)].map((field) => sample[field]).find((column) => Array.isArray(column))
