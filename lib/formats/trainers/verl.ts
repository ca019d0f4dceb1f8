/** verl's AgentLoopOutput: the ids of the prompt, and arrays over the tokens of the response. */
import * as z from 'zod/mini'
import { isObject, without } from '#lib/json/json-object.ts'
import { idsSchema, logprobsSchema, maskSchema } from '../columns.ts'
import type { Format, ReadResult, RecordSource } from '../format.ts'
import { parseRecord, readSamples } from './trained-sequence.ts'

const NAME = 'verl'

/** The format of verl's AgentLoopOutput. */
export const verl: Format = {
  name: NAME,
  label: 'verl',
  keeps: 'Ids, response mask, response logprobs and reward of an AgentLoopOutput.',
  sniff: (value) =>
    isObject(value) && ['prompt_ids', 'response_ids', 'response_mask'].every((key) => Array.isArray(value[key])),
  read,
}

const outputSchema = z.looseObject({
  prompt_ids: idsSchema,
  response_ids: idsSchema,
  response_mask: maskSchema,
  response_logprobs: z.nullish(logprobsSchema),
  reward_score: z.nullish(z.number()),
})

function read(value: unknown, source: RecordSource): ReadResult {
  const parsed = parseRecord(outputSchema, value)
  if ('error' in parsed) return { ok: false, error: parsed.error }
  const { prompt_ids: prompt, response_ids: response, response_mask: mask, response_logprobs: logprobs } = parsed.data
  return readSamples(
    NAME,
    [
      {
        path: '',
        sequence: {
          ids: [...prompt, ...response],
          promptLength: prompt.length,
          mask: { field: 'response_mask', entries: mask },
          logprobs: { field: 'response_logprobs', entries: logprobs },
          hasFillers: true,
        },
        about: {
          outcome: { kind: 'ended', reason: 'unknown' },
          reward: parsed.data.reward_score ?? undefined,
          rest: without(parsed.data, [
            'prompt_ids',
            'response_ids',
            'response_mask',
            'response_logprobs',
            'reward_score',
          ]),
        },
      },
    ],
    source,
  )
}
