/**
 * SkyRL's `GeneratorOutput` (skyrl_train/generators/base.py): lists over the samples of a batch. A record is a batch of one,
 * and batches are joined by appending their lists.
 */
import { nestedExperts } from '#lib/trajectory/experts/slices.ts'
import type { Outcome, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { listDroppedContent, listDroppedForeignFields, writableExperts } from './export-losses.ts'
import { responseArrays, responseRow } from './response-arrays.ts'
import type { TrainingRow } from './training-row.ts'
import type { Writer } from './writer.ts'

const NAME = 'skyrl'

/** Writes GeneratorOutput. */
export const skyrlWriter: Writer = {
  name: NAME,
  label: 'SkyRL',
  keeps: 'Prompt and response ids, loss mask, logprobs, reward, stop reason, group: a GeneratorOutput with one sample.',
  write,
  rows,
}

function write(trajectory: Trajectory) {
  const { outcome, reward, group } = trajectory
  const { prompt, response, mask, logprobs, losses } = responseArrays(trajectory, 'SkyRL')
  const experts = nestedExperts(trajectory)
  const value = {
    prompt_token_ids: [prompt] as const,
    response_ids: [response] as const,
    rewards: [reward ?? 0],
    loss_masks: [mask],
    stop_reasons: [stopReason(outcome)],
    rollout_metrics: null,
    rollout_logprobs: logprobs ? [logprobs] : null,
    trajectory_ids: group ? [{ instance_id: group.id, repetition_id: group.index }] : null,
    ...(experts && { rollout_expert_indices: [experts] }),
  }
  return {
    value,
    losses: [
      ...losses,
      ...(typeof reward === 'number' ? [] : ['that there is no reward: SkyRL needs one, and 0 is written']),
      ...(outcome.kind === 'ended' && outcome.reason === 'unknown' ? ['outcome: written as truncated'] : []),
      ...listDroppedContent(trajectory, ['reward', 'group', ...writableExperts(experts)]),
      ...listDroppedForeignFields(trajectory, NAME),
    ],
  }
}

/** SkyRL reads length as truncated, and anything else as finished. */
const stopReason = (outcome: Outcome): 'stop' | 'length' =>
  outcome.kind === 'ended' && outcome.reason === 'end_turn' ? 'stop' : 'length'

function rows(record: object): readonly TrainingRow[] {
  const { prompt_token_ids, response_ids, rollout_logprobs } = record as ReturnType<typeof write>['value']
  const paths = {
    prompt: ['prompt_token_ids', 0],
    response: ['response_ids', 0],
    mask: ['loss_masks', 0],
    logprobs: ['rollout_logprobs', 0],
  }
  const lengths = { prompt: prompt_token_ids[0].length, response: response_ids[0].length }
  return [responseRow(paths, lengths, rollout_logprobs !== null)]
}
