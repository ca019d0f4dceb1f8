/**
 * NeMo-RL's `train_data_step{N}.jsonl`: a line for each sample, as a micro-batch of one. Tensors have a leading dimension of 1, and are padded
 * to the longest sample of the batch; `input_lengths` has the length without padding. `prev_logprobs` are the trainer's.
 */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import { idsSchema, logprobsSchema, maskSchema } from '../columns.ts'
import type { Format } from '../format.ts'
import { catchRefusals, parsedAt, refuse } from '../reading/record-error.ts'
import { type TrainedSample, trainedTrajectory } from './trained-sequence.ts'

const NAME = 'nemo-rl'

/** The format of NeMo-RL's train data. */
export const nemoRl: Format = {
  name: NAME,
  label: 'NeMo-RL train data',
  keeps: 'Ids, loss masks, logprobs of generation and trainer, advantages and reward.',
  sniff: (value) => isObject(value) && 'token_loss_mask' in value && 'input_lengths' in value,
  read: catchRefusals((value, source) => [trainedTrajectory(NAME, sampleOf(value as JsonObject), source)]),
}

const COLUMNS = [
  'token_ids',
  'token_loss_mask',
  'generation_logprobs',
  'prev_logprobs',
  'reference_policy_logprobs',
  'advantages',
] as const
const NAMES: ReadonlySet<string> = new Set(COLUMNS)

const recordSchema = z.looseObject({
  token_ids: idsSchema,
  token_loss_mask: maskSchema,
  input_lengths: z.int().check(z.minimum(0)),
  generation_logprobs: z.nullish(logprobsSchema),
  sample_loss_mask: z.nullish(z.union([z.number(), z.boolean()])),
  rewards: z.nullish(z.number()),
  content: z.nullish(z.unknown()),
})

function sampleOf(value: JsonObject): TrainedSample {
  const unwrapped = Object.entries(value).map(([name, entry]) => [name, unwrap(entry, NAMES.has(name))])
  const record = parsedAt(recordSchema, Object.fromEntries(unwrapped), '')
  const length = record.input_lengths
  const padded = record.token_ids.length
  if (length > padded) refuse('input_lengths', `at most ${padded} (the number of ids)`, length)
  // A column with another length than the ids stays as it is, so that it is refused.
  const cut = <T>(column: readonly T[] | null | undefined) =>
    column?.length === padded ? column.slice(0, length) : column
  const isDropped = record.sample_loss_mask === 0 || record.sample_loss_mask === false
  return {
    sequence: {
      ids: record.token_ids.slice(0, length),
      promptLength: 0,
      mask: { field: 'token_loss_mask', entries: cut(record.token_loss_mask) },
      logprobs: { field: 'generation_logprobs', entries: cut(record.generation_logprobs) },
      record: Object.fromEntries(
        COLUMNS.map((name) => {
          const column = record[name]
          return [name, Array.isArray(column) ? cut(column) : column]
        }),
      ),
      fields: {
        prev_logprobs: 'trainerLogprobs',
        reference_policy_logprobs: 'referenceLogprobs',
        advantages: 'advantage',
      },
      hasFillers: true,
    },
    messages: record.content,
    about: {
      outcome: { kind: 'ended', reason: 'unknown' },
      reward: record.rewards ?? undefined,
      lacked: ['group', ...(padded > length ? [`${padded - length} tokens of padding: removed`] : [])],
      ...(isDropped && {
        problems: [
          {
            kind: 'mask',
            message: 'The loss mask of the sample (sample_loss_mask) is 0: NeMo-RL does not train it.',
          },
        ],
      }),
      rest: without(record, [...COLUMNS, 'rewards', 'input_lengths']),
    },
  }
}

/** Removes the leading dimension: from columns only if their entry is a list. */
function unwrap(value: unknown, isColumn: boolean): unknown {
  if (!Array.isArray(value) || value.length !== 1) return value
  const [only]: unknown[] = value
  return !isColumn || Array.isArray(only) ? only : value
}
