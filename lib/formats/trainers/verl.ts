/** verl's AgentLoopOutput: the ids of the prompt, and arrays over the tokens of the response. */
import * as z from 'zod/mini'
import { isObject, without } from '#lib/json/json-object.ts'
import { withNestedExperts } from '#lib/trajectory/experts/slices.ts'
import { idsSchema, logprobsSchema, maskSchema, nestedExpertsSchema } from '../columns.ts'
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
  read: catchRefusals((value, source) => {
    const output = parsedAt(outputSchema, value, '')
    const { routed_experts: routed } = output
    const trajectory = trainedTrajectory(NAME, sampleOf(output), source)
    const experts = nestedExpertsSchema.safeParse(routed).data
    const segments = experts && withNestedExperts(trajectory.segments, experts)
    if (segments) return [{ ...trajectory, segments }]
    const rest = { ...trajectory.foreign?.[NAME], ...(routed !== undefined && { routed_experts: routed }) }
    return [Object.keys(rest).length > 0 ? { ...trajectory, foreign: { [NAME]: rest } } : trajectory]
  }),
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
    routed_experts: _,
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
    about: {
      outcome: { kind: 'ended', reason: 'unknown' },
      reward: reward_score ?? undefined,
      rest: without(others, []),
    },
  }
}
