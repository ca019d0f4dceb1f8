/**
 * Token exports of prime-rl (`enable_token_export`): columns over all tokens of a packed sequence, with the logprobs of the inference
 * server and of the trainer, importance ratios, and what the loss masked. An older version has one object for each token.
 */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import { idsSchema, logprobsSchema, maskSchema } from '../columns.ts'
import type { Format } from '../format.ts'
import type { ColumnFields } from '../number-columns.ts'
import { catchRefusals, parsedAt } from '../reading/record-error.ts'
import { type TrainedSample, trainedTrajectory } from './trained-sequence.ts'

const NAME = 'prime-rl'

/** The format of prime-rl's token exports. */
export const primeRl: Format = {
  name: NAME,
  label: 'prime-rl token export',
  keeps:
    'Ids, loss mask, logprobs of inference and trainer, advantages, entropies, importance ratios, clip masks and loss weights.',
  sniff: (value) => isObject(value) && (isColumns(value) || isRows(value)),
  read: catchRefusals((value, source) => [trainedTrajectory(NAME, sampleOf(value as JsonObject), source)]),
}

/** Never the sampled logprobs of strands-sglang. */
const isColumns = (value: JsonObject): boolean =>
  Array.isArray(value.token_ids) &&
  ['inference_logprobs', 'trainer_logprobs', 'export_sequence_idx'].some((key) => key in value) &&
  !['logprobs', 'segment_info', 'initial_prompt_length'].some((key) => key in value)

function isRows({ tokens }: JsonObject): boolean {
  const token: unknown = Array.isArray(tokens) ? tokens[0] : undefined
  return isObject(token) && 'id' in token && !('token_id' in token)
}

const FIELDS: ColumnFields = {
  trainer_logprobs: 'trainerLogprobs',
  advantages: 'advantage',
  rewards: 'tokenReward',
  entropy: 'entropy',
  mismatch_kl: 'mismatchKl',
  log_importance_ratio: 'logImportanceRatio',
  importance_ratio: 'importanceRatio',
  prob_delta: 'probabilityDelta',
  is_masked: 'clipMask',
  is_masked_high: 'clipMaskHigh',
  is_masked_low: 'clipMaskLow',
  rl_weights: { other: 'lossWeight.rl' },
  ce_weights: { other: 'lossWeight.ce' },
  ref_kl_weights: { other: 'lossWeight.ref_kl' },
}

const recordSchema = z.looseObject({
  token_ids: idsSchema,
  loss_mask: z.nullish(maskSchema),
  inference_logprobs: z.nullish(logprobsSchema),
  rewards: z.nullish(logprobsSchema),
})

function sampleOf(value: JsonObject): TrainedSample {
  const record = parsedAt(recordSchema, isRows(value) ? columnsOfRows(value) : value, '')
  const { token_ids: ids, loss_mask: mask, inference_logprobs: logprobs, rewards } = record
  const reward = onlyValue(rewards?.filter((_, index) => mask?.[index] ?? true) ?? [])
  return {
    sequence: {
      ids,
      promptLength: 0,
      mask: { field: 'loss_mask', entries: mask },
      logprobs: { field: 'inference_logprobs', entries: logprobs },
      record,
      fields: FIELDS,
      hasFillers: true,
    },
    about: {
      outcome: { kind: 'ended', reason: 'unknown' },
      reward,
      lacked: ['group', ...(reward === undefined ? ['reward'] : [])],
      rest: without(record, ['token_ids', 'loss_mask', 'inference_logprobs', ...Object.keys(FIELDS)]),
    },
  }
}

/** prime-rl writes the reward of a rollout at each of its tokens. */
function onlyValue(rewards: readonly unknown[]): number | undefined {
  const values = new Set(rewards)
  const [value] = values
  return values.size === 1 && typeof value === 'number' ? value : undefined
}

/** Returns the objects of the older version as columns; a field that a token lacks is null. */
function columnsOfRows(record: JsonObject): JsonObject {
  const rows = (record.tokens as readonly unknown[]).map((row) => (isObject(row) ? row : {}))
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) => name !== 'id' && name !== 'text')
  return {
    ...without(record, ['tokens']),
    ...Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name] ?? null)])),
    token_ids: rows.map(({ id }) => id),
  }
}
