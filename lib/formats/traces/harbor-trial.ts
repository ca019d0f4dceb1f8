/**
 * Results of Harbor's trials (`result.json`) with the rollout details that an agent collected: for each history of the model a list of
 * calls, with the ids of the whole prompt, the sampled ids and their logprobs. The messages are in the agent's trajectory, another file.
 */
import * as z from 'zod/mini'
import { isObject, type JsonObject, objectsIn, without } from '#lib/json/json-object.ts'
import type { Outcome } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { idsSchema, logprobsSchema } from '../columns.ts'
import type { Format } from '../format.ts'
import { nextGroupMember } from '../group-members.ts'
import { catchRefusals, parsedAt, refuseIf } from '../reading/record-error.ts'
import { trajectoriesOfCalls } from '../replies/call-chains.ts'
import { chatCalls } from '../replies/chat-reply.ts'
import type { ModelCall } from '../replies/model-call.ts'

const NAME = 'harbor-trial'

/** The format of the results. All histories of a trial are paths of one rollout. */
export const harborTrial: Format = {
  name: NAME,
  label: 'results of Harbor’s trials',
  keeps: 'Ids and logprobs of each call, the model, the reward, the task as group, and the exception.',
  sniff: (value) =>
    isObject(value) &&
    ['task_name', 'trial_name', 'agent_info', 'verifier_result'].every((key) => key in value) &&
    detailsIn(value).length > 0,
  read: catchRefusals((value, source) => {
    const trial = parsedAt(trialSchema, value, '')
    const { reward, lacked } = rewardOf(trial.verifier_result)
    const run = {
      format: NAME,
      reward,
      group: nextGroupMember(source, trial.task_name),
      outcome: outcomeOf(trial.exception_info),
      lacked: ['messages: the trajectory of the agent has them', ...lacked],
    }
    const rest = restOf(trial)
    const model = trial.agent_info.model_info?.name
    return detailsIn(trial).flatMap(({ path, detail }) =>
      trajectoriesOfCalls(
        callsOf(detail, path, model),
        { ...run, rest: { ...rest, ...without(detail, COLUMNS) } },
        source,
      ).map((trajectory) => ({ ...trajectory, title: trial.trial_name })),
    )
  }),
}

const trialSchema = z.looseObject({
  task_name: z.string(),
  trial_name: z.string(),
  agent_info: z.looseObject({ model_info: z.nullish(z.looseObject({ name: z.nullish(z.string()) })) }),
  verifier_result: z.nullish(z.looseObject({ rewards: z.nullish(z.record(z.string(), z.unknown())) })),
  exception_info: z.nullish(z.looseObject({ exception_type: z.string(), exception_message: z.string() })),
})
type Trial = z.infer<typeof trialSchema>

const detailSchema = z.looseObject({
  prompt_token_ids: z.array(idsSchema),
  completion_token_ids: z.array(idsSchema),
  logprobs: z.nullish(z.array(logprobsSchema)),
})

/** Returns the histories of a trial, or of its steps. */
function detailsIn({ agent_result: result, step_results: steps }: JsonObject) {
  const results = [
    { path: 'agent_result', result },
    ...objectsIn(steps).map((step, index) => ({
      path: `step_results[${index}].agent_result`,
      result: step.agent_result,
    })),
  ]
  return results.flatMap(({ path, result }) =>
    objectsIn(isObject(result) ? result.rollout_details : undefined).map((detail, index) => ({
      path: `${path}.rollout_details[${index}]`,
      detail,
    })),
  )
}

const COLUMNS = ['prompt_token_ids', 'completion_token_ids', 'logprobs']

/** Returns the fields without a place in a trajectory, without the ids of all histories. */
function restOf({ agent_result: result, step_results: steps, ...trial }: JsonObject): JsonObject {
  const short = (value: unknown) => (isObject(value) ? without(value, ['rollout_details']) : value)
  return {
    ...without(trial, ['task_name', 'exception_info']),
    ...(isObject(result) && { agent_result: short(result) }),
    ...(Array.isArray(steps) && {
      step_results: objectsIn(steps).map((step) => ({ ...step, agent_result: short(step.agent_result) })),
    }),
  }
}

function callsOf(value: JsonObject, path: string, model: string | null | undefined): readonly ModelCall[] {
  const { prompt_token_ids: prompts, completion_token_ids: completions, logprobs } = parsedAt(detailSchema, value, path)
  for (const [field, list] of Object.entries({ completion_token_ids: completions, logprobs }))
    if (list && list.length !== prompts.length)
      refuseIf({
        path: `${path}.${field}`,
        expected: `${prompts.length} entries (one for each call)`,
        found: String(list.length),
      })
  return prompts.flatMap((prompt_token_ids, call) => {
    const scores = logprobs?.[call]
    const choice = {
      token_ids: elementAt(completions, call),
      ...(scores && { logprobs: { content: scores.map((logprob) => ({ logprob })) } }),
    }
    return chatCalls({ model, prompt_token_ids, choices: [choice] }, undefined, `${path}[${call}]`)
  })
}

/** Harbor's tasks usually have the one reward `reward`. */
function rewardOf(result: Trial['verifier_result']) {
  const rewards = result?.rewards ?? {}
  const [only, ...others] = Object.values(rewards)
  const reward = others.length === 0 ? only : rewards.reward
  return typeof reward === 'number' ? { reward, lacked: [] } : { reward: undefined, lacked: ['reward'] }
}

const outcomeOf = (exception: Trial['exception_info']): Outcome | undefined =>
  exception ? { kind: 'failed', code: exception.exception_type, message: exception.exception_message } : undefined
