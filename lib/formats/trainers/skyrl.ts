/** SkyRL's GeneratorOutput: lists over the samples of a batch, with arrays over the tokens of each response. */
import * as z from 'zod/mini'
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Outcome } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { idsSchema, logprobsSchema, maskSchema } from '../columns.ts'
import type { Format, RecordSource } from '../format.ts'
import { nextGroupMember } from '../group-members.ts'
import { catchRefusals, parsedAt } from '../reading/record-error.ts'
import { refuseUneven, type TrainedSample, trainedTrajectory } from './trained-sequence.ts'

const NAME = 'skyrl'

/** The format of SkyRL's GeneratorOutput. */
export const skyrl: Format = {
  name: NAME,
  label: 'SkyRL',
  keeps: 'Ids, loss mask, rollout logprobs, routed experts, rewards, stop reason and group of each sample.',
  sniff: (value) =>
    isObject(value) && ['prompt_token_ids', 'response_ids', 'loss_masks'].every((key) => Array.isArray(value[key])),
  read: catchRefusals((value, source) => {
    const output = parsedAt(outputSchema, value, '')
    refuseUneven(output, PER_SAMPLE, output.prompt_token_ids.length)
    return output.prompt_token_ids.map((_, index) => trainedTrajectory(NAME, sampleOf(output, index, source), source))
  }),
}

const trajectoryId = z.union([
  z.looseObject({ instance_id: z.union([z.string(), z.number()]), repetition_id: z.int().check(z.minimum(0)) }),
  z.string(),
])
const outputSchema = z.looseObject({
  prompt_token_ids: z.array(idsSchema),
  response_ids: z.array(idsSchema),
  loss_masks: z.array(maskSchema),
  rewards: z.nullish(z.union([z.array(z.nullable(z.union([z.number(), z.boolean()]))), z.array(logprobsSchema)])),
  stop_reasons: z.nullish(z.array(z.nullable(z.string()))),
  rollout_logprobs: z.nullish(z.array(z.nullable(logprobsSchema))),
  trajectory_ids: z.nullish(z.array(z.nullable(trajectoryId))),
  is_last_step: z.nullish(z.array(z.boolean())),
  rollout_expert_indices: z.nullish(z.array(z.unknown())),
})
type GeneratorOutput = z.infer<typeof outputSchema>

const EXPERTS = 'rollout_expert_indices'

/** Lists with an entry for each sample. */
const PER_SAMPLE = [
  'response_ids',
  'loss_masks',
  'rewards',
  'stop_reasons',
  'rollout_logprobs',
  'trajectory_ids',
  'is_last_step',
  EXPERTS,
] as const

function sampleOf(output: GeneratorOutput, index: number, source: RecordSource): TrainedSample {
  const prompt = elementAt(output.prompt_token_ids, index)
  const response = elementAt(output.response_ids, index)
  const rewards = output.rewards?.[index]
  const ofTokens = Array.isArray(rewards) ? rewards : undefined
  return {
    sequence: {
      ids: [...prompt, ...response],
      promptLength: prompt.length,
      mask: { field: `loss_masks[${index}]`, entries: output.loss_masks[index] },
      logprobs: { field: `rollout_logprobs[${index}]`, entries: output.rollout_logprobs?.[index] },
      record: { [`rewards[${index}]`]: ofTokens },
      fields: { [`rewards[${index}]`]: 'tokenReward' },
      hasFillers: true,
    },
    experts: { field: EXPERTS, written: output[EXPERTS]?.[index] },
    about: {
      outcome: skyrlOutcome(output.stop_reasons?.[index]),
      // SkyRL's own metrics sum the rewards of the tokens.
      reward: ofTokens ? ofTokens.reduce<number>((sum, each) => sum + Number(each ?? 0), 0) : rewards,
      ...groupOf(output.trajectory_ids?.[index], source),
      lacked: output.is_last_step?.[index] === false ? ['later steps: each step of this rollout is a sample'] : [],
      rest: ownPart(without(output, ['prompt_token_ids', ...PER_SAMPLE]), index, output.prompt_token_ids.length),
    },
  }
}

/** Returns the fields with only the entry of one sample in each list over samples: all lists in every trajectory would be their square. */
const ownPart = (fields: JsonObject | undefined, index: number, samples: number): JsonObject | undefined =>
  fields &&
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) =>
      Array.isArray(value) && value.length === samples ? [name, [value[index]]] : [name, value],
    ),
  )

/** Returns the outcome of a stop reason of SkyRL. */
export function skyrlOutcome(reason: unknown): Outcome {
  if (reason === 'stop') return { kind: 'ended', reason: 'end_turn' }
  if (reason === 'length') return { kind: 'ended', reason: 'length' }
  return { kind: 'ended', reason: reason === 'abort' ? 'aborted' : 'unknown' }
}

/** `TrajectoryID.to_string()` writes INSTANCE_REPETITION. */
function groupOf(id: z.infer<typeof trajectoryId> | null | undefined, source: RecordSource) {
  if (id === null || id === undefined) return {}
  if (typeof id === 'object') return { group: { id: String(id.instance_id), index: id.repetition_id } }
  const [, instance, repetition] = /^(.+)_(\d+)$/.exec(id) ?? []
  return {
    group: instance === undefined ? nextGroupMember(source, id) : { id: instance, index: Number(repetition) },
  }
}
