/** Opens results of trials that Harbor wrote (lib/formats/golden/make_harbor_trial.py). */
import { expect, test } from 'vitest'
import type { JsonObject } from '#lib/json/json-object.ts'
import { kindsAndIds } from '#testing/trajectories.ts'
import { formatOf } from '../registry.ts'
import { fileSource, foreignRecords } from '../replies/test-files.ts'
import { refusalOf, trajectoriesOf } from '../test-trajectories.ts'
import { harborTrial } from './harbor-trial.ts'

const [finished, failed] = foreignRecords('harbor-trials.jsonl') as readonly [JsonObject, JsonObject]
const result = (rollout_details: unknown) => ({ ...finished, agent_result: { rollout_details } })
const main = { prompt_token_ids: [[1, 2]], completion_token_ids: [[3]], logprobs: [[-1]] }

test('the result of a trial has a trajectory for each history of its model, as paths of one rollout of the task', () => {
  expect([finished, failed].map((record) => formatOf(record)?.name)).toEqual(['harbor-trial', 'harbor-trial'])
  const source = fileSource('trials')
  const [first, second, summary] = [finished, failed].flatMap((record) => trajectoriesOf(harborTrial, record, source))
  const segments = [
    { kind: 'prompt', ids: [1, 2, 3] },
    { kind: 'response', ids: [10, 11] },
    { kind: 'prompt', ids: [4] },
    { kind: 'response', ids: [12] },
  ]
  expect(first).toMatchObject({
    title: 'sum__1',
    reward: 1,
    group: { id: 'sum', index: 0 },
    model: { name: 'tiny-qwen3' },
    segments: [{}, { logprobs: [-0.5, -0.25] }, {}, { logprobs: [-0.75] }],
    foreign: { 'harbor-trial': { agent_result: { n_input_tokens: 8 }, trial_name: 'sum__1' } },
  })
  expect(JSON.stringify(first?.foreign)).not.toContain('rollout_details')
  expect([first, second].map((one) => one && kindsAndIds(one))).toEqual([segments, segments])
  const outcome = { kind: 'failed', code: 'AgentTimeoutError', message: 'timed out' }
  expect([second, summary]).toMatchObject([
    { group: { id: 'sum', index: 1 }, outcome },
    { group: { id: 'sum', index: 1 }, outcome, foreign: { 'harbor-trial': { extra: { weight_version: ['7'] } } } },
  ])
  expect(second).not.toHaveProperty('reward')
  expect(summary && kindsAndIds(summary)).toEqual([
    { kind: 'prompt', ids: [1, 7, 8] },
    { kind: 'response', ids: [13, 14] },
  ])
})

test('the calls of a trial of several steps are those of its steps, and one of several rewards is its reward', () => {
  const steps = [
    { step_name: 'a', agent_result: null },
    { step_name: 'b', agent_result: { rollout_details: [main] } },
  ]
  const record = { ...finished, agent_result: null, step_results: steps, agent_info: { model_info: null } }
  expect(formatOf(record)?.name).toBe('harbor-trial')
  const rewards = (rewards: unknown) =>
    trajectoriesOf(harborTrial, { ...record, verifier_result: { rewards } }).map(({ reward }) => reward)
  expect([{ reward: 0.5, style: 1 }, { tests: 1 }, null, { tests: 'x' }].map(rewards)).toEqual([
    [0.5],
    [1],
    [undefined],
    [undefined],
  ])
  const [trajectory] = trajectoriesOf(harborTrial, { ...record, verifier_result: null })
  expect(trajectory?.foreign?.['harbor-trial']).toMatchObject({
    step_results: [{ step_name: 'a' }, { step_name: 'b' }],
  })
})

test('the result of a trial whose lists have different numbers of calls is refused with its path', () => {
  const path = 'agent_result.rollout_details[0]'
  expect(refusalOf(harborTrial, result([{ ...main, logprobs: [] }]))?.path).toBe(`${path}.logprobs`)
  expect(refusalOf(harborTrial, result([{ ...main, completion_token_ids: 7 }]))?.path).toBe(
    `${path}.completion_token_ids`,
  )
  expect(trajectoriesOf(harborTrial, result([{ ...main, logprobs: null }]))).toHaveLength(1)
  expect(formatOf(result([]))).toBeUndefined()
})
