/** miles' dashboard columns (`dashboard_columns/rollout_N.parquet`): a row for each sample, with arrays over the tokens of its response. */
import * as z from 'zod/mini'
import { isObject } from '#lib/json/json-object.ts'
import { idsSchema, logprobsSchema, maskSchema } from '../columns.ts'
import type { Format } from '../format.ts'
import { catchRefusals, parsedAt, refuse } from '../reading/record-error.ts'
import { type TrainedSample, trainedTrajectory } from './trained-sequence.ts'

const NAME = 'miles-columns'

/** The format of miles' dashboard columns. */
export const milesColumns: Format = {
  name: NAME,
  label: 'miles dashboard columns',
  keeps: 'Ids, loss mask and rollout logprobs of each sample.',
  sniff: (value) =>
    isObject(value) &&
    Array.isArray(value.tokens) &&
    ['sample_index', 'response_length', 'total_length', 'rollout_log_probs'].every((key) => key in value) &&
    !('log_probs' in value),
  read: catchRefusals((value, source) => [trainedTrajectory(NAME, sampleOf(parsedAt(rowSchema, value, '')), source)]),
}

const count = z.int().check(z.minimum(0))
const rowSchema = z.looseObject({
  sample_index: count,
  response_length: count,
  total_length: count,
  tokens: idsSchema,
  loss_mask: z.nullish(maskSchema),
  rollout_log_probs: z.nullish(logprobsSchema),
})

function sampleOf(row: z.infer<typeof rowSchema>): TrainedSample {
  const { sample_index: index, response_length, total_length, tokens, loss_mask, rollout_log_probs } = row
  if (total_length !== tokens.length) refuse('total_length', `${tokens.length} (the number of ids)`, total_length)
  return {
    sequence: {
      ids: tokens,
      promptLength: tokens.length - response_length,
      mask: { field: 'loss_mask', entries: loss_mask },
      logprobs: { field: 'rollout_log_probs', entries: rollout_log_probs },
      hasFillers: true,
    },
    about: {
      outcome: { kind: 'ended', reason: 'unknown' },
      reward: undefined,
      title: `sample ${index}`,
      lacked: ['reward and group: the rollout dump of the same step has them'],
      rest: { sample_index: index },
    },
  }
}
