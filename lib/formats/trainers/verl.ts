/** verl's AgentLoopOutput: the ids of the prompt, and arrays over the tokens of the response. */
import * as z from 'zod/mini'
import { isObject, without } from '#lib/json/json-object.ts'
import { idsSchema, logprobsSchema, maskSchema } from '../columns.ts'
import type { Format } from '../format.ts'
import { catchRefusals, parsedAt } from '../reading/record-error.ts'
import { type TrainedSample, trainedTrajectory } from './trained-sequence.ts'

const NAME = 'verl'

/** The format of verl's AgentLoopOutput. */
export const verl: Format = {
  name: NAME,
  label: 'verl',
  keeps: 'Ids, response mask, response logprobs, routed experts and reward of an AgentLoopOutput.',
  sniff: (value) =>
    isObject(value) && ['prompt_ids', 'response_ids', 'response_mask'].every((key) => Array.isArray(value[key])),
  read: catchRefusals((value, source) => [
    trainedTrajectory(NAME, sampleOf(parsedAt(outputSchema, value, '')), source),
  ]),
}

const outputSchema = z.looseObject({
  prompt_ids: idsSchema,
  response_ids: idsSchema,
  response_mask: maskSchema,
  response_logprobs: z.nullish(logprobsSchema),
  reward_score: z.nullish(z.union([z.number(), z.boolean()])),
  routed_experts: z.nullish(z.unknown()),
})

function sampleOf(output: z.infer<typeof outputSchema>): TrainedSample {
  const {
    prompt_ids: prompt,
    response_ids: response,
    response_mask,
    response_logprobs,
    reward_score,
    routed_experts: written,
    ...others
  } = output
  return {
    sequence: {
      ids: [...prompt, ...response],
      promptLength: prompt.length,
      mask: { field: 'response_mask', entries: response_mask },
      logprobs: { field: 'response_logprobs', entries: response_logprobs },
      hasFillers: true,
    },
    experts: { field: 'routed_experts', written },
    about: {
      outcome: { kind: 'ended', reason: 'unknown' },
      reward: reward_score ?? undefined,
      rest: without(others, []),
    },
  }
}
