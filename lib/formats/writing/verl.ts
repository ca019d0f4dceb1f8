/**
 * The arrays of verl's `AgentLoopOutput` (verl 0.9.1, verl/experimental/agent_loop): the first prompt, and everything
 * after it as response. A tool result is part of the response, with mask 0.
 */
import { nestedExperts } from '#lib/trajectory/experts/slices.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { listDroppedContent, listDroppedForeignFields, writableExperts } from './export-losses.ts'
import { responseArrays, responseRow } from './response-arrays.ts'
import type { TrainingRow } from './training-row.ts'
import type { Writer } from './writer.ts'

const NAME = 'verl'

/** Writes AgentLoopOutput. */
export const verlWriter: Writer = {
  name: NAME,
  label: 'verl',
  keeps: 'Prompt ids, response ids, response mask and logprobs, reward: the fields of AgentLoopOutput.',
  write,
  rows,
}

function write(trajectory: Trajectory) {
  const { segments, reward } = trajectory
  const experts = nestedExperts(trajectory)
  const { prompt, response, mask, logprobs, losses } = responseArrays(trajectory, NAME)
  const value = {
    prompt_ids: prompt,
    response_ids: response,
    response_mask: mask,
    response_logprobs: logprobs ?? null,
    reward_score: reward ?? null,
    // verl counts the messages of user and model; the first question is one of them.
    num_turns: segments.filter(({ ids }) => ids.length > 0).length,
    metrics: {},
    extra_fields: {},
    ...(experts && { routed_experts: experts }),
  }
  return {
    value,
    losses: [
      ...losses,
      ...listDroppedContent(trajectory, ['reward', ...writableExperts(experts)]),
      ...listDroppedForeignFields(trajectory, NAME),
    ],
  }
}

function rows(record: object): readonly TrainingRow[] {
  const { prompt_ids, response_ids, response_logprobs } = record as ReturnType<typeof write>['value']
  const paths = {
    prompt: ['prompt_ids'],
    response: ['response_ids'],
    mask: ['response_mask'],
    logprobs: ['response_logprobs'],
  }
  return [responseRow(paths, { prompt: prompt_ids.length, response: response_ids.length }, response_logprobs !== null)]
}
