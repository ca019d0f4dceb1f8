/** Records have the fields that the writers of the tools fill. Files of verl and datasets are in lib/formats/golden. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { JsonObject } from '#lib/json/json-object.ts'
import { nestedExperts } from '#lib/trajectory/experts/slices.ts'
import { conversation } from '#lib/trajectory/messages/conversation.ts'
import { ids, logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { LIMITS } from '#lib/util/limits.ts'
import { kindsAndIds, numberedSource, source } from '#testing/trajectories.ts'
import { openText } from '../reading/open.ts'
import { foreignRecords } from '../replies/test-files.ts'
import { calls, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { atropos } from './atropos.ts'
import { nemoGym } from './nemo-gym.ts'
import { nemoRl } from './nemo-rl.ts'
import { primeRl } from './prime-rl.ts'
import { skyrl } from './skyrl.ts'
import { tokenDataset } from './token-dataset.ts'
import { verl } from './verl.ts'

const opens = (record: object, name: string) =>
  expect(openText(JSON.stringify(record), source)).toMatchObject({ ok: true, format: { name } })

describe('A token export of prime-rl', () => {
  test('that prime-rl wrote has its columns, and the weights of its losses', () => {
    const records = foreignRecords('prime-rl.jsonl') as readonly JsonObject[]
    const read = records.map((record) => trajectoryOf(primeRl, record))
    expect(read.map((trajectory) => ids(trajectory))).toEqual(records.map(({ token_ids }) => token_ids))
    expect(read.map((trajectory) => logprobs(trajectory))).toEqual([
      [null, null, -0.25, -0.375],
      [null, null, -0.75],
      [null, -0.125, -0.25],
    ])
    const columns = (at: number) => read[at]?.segments.at(-1)?.columns
    expect(columns(0)).toMatchObject({ trainerLogprobs: [-0.5, -0.625], advantage: [0.5, 0.5], clipMask: [0, 0] })
    expect(columns(0)).not.toHaveProperty('lossWeight.rl')
    expect(columns(2)).toMatchObject({ 'lossWeight.rl': [1, 1], 'lossWeight.ce': [0, 0] })
    expect(read[2]?.foreign?.['prime-rl']).not.toHaveProperty('ref_kl_weights')
  })

  const record = {
    schema_version: 1,
    ...{ step: 3, export_step: 3, rank: 0, export_sequence_idx: 0, run_id: 'r', env_name: 'math' },
    ...{ token_ids: [1, 2, 3], position_ids: [0, 1, 2], loss_mask: [false, true, true], advantages: [0, 1, 1] },
    ...{ rewards: [0.5, 0.5, 0.5], inference_logprobs: [0, -0.5, -0.25], trainer_logprobs: [-3, -0.5, -0.3] },
    ...{ entropy: [2, 1, 0.5], importance_ratio: [1, 1, 0.95], is_masked: [false, true, false] },
    ...{ mismatch_kl: [null, null, null], losses: [{}, {}, {}] },
  }

  test('has columns over all tokens, and 0.0 at untrained ones is unknown', () => {
    opens(record, 'prime-rl')
    const read = trajectoryOf(primeRl, record)
    expect(read.segments).toMatchObject([
      { kind: 'prompt', ids: [1], columns: { trainerLogprobs: [-3], entropy: [2], importanceRatio: [1] } },
      {
        kind: 'response',
        ids: [2, 3],
        logprobs: [-0.5, -0.25],
        columns: { trainerLogprobs: [-0.5, -0.3], advantage: [1, 1], tokenReward: [0.5, 0.5], clipMask: [1, 0] },
      },
    ])
    expect(logprobs(read)[0]).toBeNull()
    expect(read).toMatchObject({
      reward: 0.5,
      columnMeanings: {
        trainerLogprobs: { quantity: 'logprob', model: 'trainer', source: 'trainer_logprobs' },
        importanceRatio: { quantity: 'importance_ratio' },
        clipMask: { quantity: 'mask', source: 'is_masked' },
      },
      foreign: { 'prime-rl': { run_id: 'r', env_name: 'math', losses: [{}, {}, {}] } },
    })
    expect(read.columnMeanings).not.toHaveProperty('mismatchKl')
  })

  test('has no reward if its tokens have several', () => {
    expect(trajectoryOf(primeRl, { ...record, rewards: [0, 1, 2] })).not.toHaveProperty('reward')
    expect(trajectoryOf(primeRl, { ...record, rewards: null, loss_mask: null })).not.toHaveProperty('reward')
    expect(trajectoryOf(primeRl, { ...record, loss_mask: null }).reward).toBe(0.5)
  })

  test('of the older version has an object for each token', () => {
    const tokens = [
      { id: 1, text: 'a', loss_mask: false },
      { id: 2, text: 'b', loss_mask: true, inference_logprobs: -1 },
    ]
    opens({ step: 3, tokens }, 'prime-rl')
    const read = trajectoryOf(primeRl, { step: 3, tokens })
    expect([ids(read), lossMask(read), logprobs(read)]).toEqual([
      [1, 2],
      [0, 1],
      [null, -1],
    ])
    expect(() => trajectoryOf(primeRl, { tokens: [...tokens, 'x'] })).toThrow('token_ids[2]: expected a number')
  })

  test('with a column of another length is refused', () => {
    expect(() => trajectoryOf(primeRl, { ...record, trainer_logprobs: [-1] })).toThrow(
      'trainer_logprobs: expected 3 entries (one for each token), found 1 entries',
    )
  })
})

describe('A group of Atropos', () => {
  const group = {
    tokens: [
      [1, 2, 3],
      [1, 4],
    ],
    masks: [
      [-100, 2, 3],
      [-100, 4],
    ],
    scores: [1, -1],
    advantages: [[0, 0.5, 0.5], [2]],
    ref_logprobs: null,
    inference_logprobs: [
      [1, -0.5, -0.25],
      [1, -1],
    ],
    messages: [
      [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: 'yes' },
      ],
      null,
    ],
    generation_params: { temperature: 1 },
  }

  test('has a trajectory for each sample: -100 is untrained, and 1.0 is no logprob', () => {
    opens(group, 'atropos')
    const [first, second] = trajectoriesOf(atropos, group, numberedSource())
    expect(first).toMatchObject({
      reward: 1,
      group: { id: 'id 0', index: 0 },
      segments: [
        { kind: 'prompt', ids: [1], messages: [{ role: 'user', content: 'hi' }] },
        { kind: 'response', ids: [2, 3], logprobs: [-0.5, -0.25], columns: { advantage: [0.5, 0.5] } },
      ],
      foreign: { atropos: { generation_params: { temperature: 1 } } },
    })
    expect(second).toMatchObject({
      reward: -1,
      group: { id: 'id 0', index: 1 },
      segments: [{ ids: [1] }, { ids: [4], logprobs: [-1], columns: { advantage: [2] } }],
    })
  })

  test('keeps with each sample its own entry of the lists that are not read', () => {
    const distilled = {
      distill_token_ids: [[[7, 8]], [[9, 5]]],
      overrides: [{ set_advantage_to_zero: true }, {}],
      images: null,
    }
    expect(trajectoriesOf(atropos, { ...group, ...distilled }).map(({ foreign }) => foreign?.atropos)).toMatchObject([
      { distill_token_ids: [[7, 8]], overrides: { set_advantage_to_zero: true }, images: null },
      { distill_token_ids: [[9, 5]], overrides: {} },
    ])
  })

  test('whose conversation does not end with the model, or without a score, keeps what there is', () => {
    const [first] = trajectoriesOf(atropos, {
      ...group,
      scores: [null, 1],
      messages: [
        [
          { role: 'assistant', content: 'a' },
          { role: 'user', content: 'b' },
        ],
        null,
      ],
    })
    expect(first).not.toHaveProperty('reward')
    expect(first?.segments[0]).toMatchObject({ messages: [{ role: 'assistant' }, { role: 'user' }] })
    expect(first?.segments[1]).not.toHaveProperty('message')
  })

  test.each([
    [{ masks: [[-100, 2, 3]] }, 'masks: expected 2 entries (one for each sample), found 1 entries'],
    [{ masks: [[-100, 3, -100], [4]] }, 'masks[0][1]: expected -100, or 2 (the id of the token), found 3'],
    [{ masks: [[-100, 2], [4]] }, 'tokens[0].masks[0]: expected 3 entries (one for each token), found 2'],
    [{ scores: ['1'] }, 'scores[0]: expected a number, found "1"'],
  ])('with an error is refused with its path', (change, message) => {
    expect(() => trajectoriesOf(atropos, { ...group, ...change })).toThrow(message)
  })
})

describe('A line of NeMo-RL’s train data', () => {
  const line = {
    idx: 0,
    ...{ content: [''], rewards: [1], input_lengths: [3], sample_loss_mask: [1], agent_ref: [{ name: 'a' }] },
    ...{ token_ids: [[1, 2, 3, 0]], token_loss_mask: [[0, 1, 1, 0]], advantages: [[0, 2, 2, 0]] },
    ...{ generation_logprobs: [[0, -1, -2, 0]], prev_logprobs: [[0, -1.5, -2, 0]] },
  }

  test('loses its leading dimension and its padding', () => {
    opens(line, 'nemo-rl')
    const read = trajectoryOf(nemoRl, line)
    expect(read).toMatchObject({
      reward: 1,
      segments: [
        { kind: 'prompt', ids: [1] },
        {
          kind: 'response',
          ids: [2, 3],
          logprobs: [-1, -2],
          columns: { trainerLogprobs: [-1.5, -2], advantage: [2, 2] },
        },
      ],
      columnMeanings: {
        logprobs: { source: 'generation_logprobs' },
        trainerLogprobs: { model: 'trainer', source: 'prev_logprobs' },
      },
      provenance: { lacked: expect.arrayContaining(['1 tokens of padding: removed']) },
      foreign: { 'nemo-rl': { idx: 0, agent_ref: { name: 'a' } } },
    })
  })

  test('without padding and reward has all its tokens, also if they have no leading dimension', () => {
    const read = trajectoryOf(nemoRl, { token_ids: [7], token_loss_mask: [1], input_lengths: 1, rewards: null })
    expect(kindsAndIds(read)).toEqual([{ kind: 'response', ids: [7] }])
    expect(read).not.toHaveProperty('reward')
  })

  test('of a sample that is not trained has a problem', () => {
    expect(trajectoryOf(nemoRl, { ...line, sample_loss_mask: [0] }).problems).toMatchObject([{ kind: 'mask' }])
  })

  test.each([
    [{ input_lengths: [5] }, 'input_lengths: expected at most 4 (the number of ids), found 5'],
    [{ prev_logprobs: [[0, -1]] }, 'prev_logprobs: expected 3 entries (one for each token), found 2 entries'],
    [{ token_ids: [['a']] }, 'token_ids[0]: expected a number, found "a"'],
  ])('with an error is refused with its path', (change, message) => {
    expect(() => trajectoryOf(nemoRl, { ...line, ...change })).toThrow(message)
  })
})

describe('A rollout of NeMo-Gym', () => {
  const answer = { type: 'message', prompt_token_ids: [1, 2], generation_token_ids: [3], generation_log_probs: [-1] }
  const tool = { type: 'function_call_output', output: '4' }
  const next = { ...answer, prompt_token_ids: [1, 2, 3, 4], generation_token_ids: [5], generation_log_probs: [-2] }
  const record = {
    responses_create_params: { tools: [{ type: 'function', name: 'f', parameters: {} }] },
    response: { id: 'r', output: [answer, tool, next] },
    reward: 1,
  }

  test('joins its answers by their prompts', () => {
    opens(record, 'nemo-gym')
    const read = trajectoryOf(nemoGym, record)
    expect(kindsAndIds(read)).toEqual([
      { kind: 'prompt', ids: [1, 2] },
      { kind: 'response', ids: [3] },
      { kind: 'prompt', ids: [4] },
      { kind: 'response', ids: [5] },
    ])
    expect(read).toMatchObject({
      reward: 1,
      model: { tools: [{ name: 'f' }] },
      foreign: { 'nemo-gym': { response: { output: [{ type: 'message' }, tool, { type: 'message' }] } } },
    })
    expect(JSON.stringify(read.foreign)).not.toContain('token_ids')
  })

  test('has the routed experts of each answer, of its own call', () => {
    const rows = (count: number, expert: number) => Array.from({ length: count }, () => [[expert, expert + 1]])
    const routed = (...experts: readonly unknown[]) => {
      const output = [answer, tool, next].map((item, index) => ({ ...item, routed_experts: experts[index] }))
      return trajectoryOf(nemoGym, { output })
    }
    const read = routed(rows(3, 0), undefined, rows(4, 2))
    expect(nestedExperts(read)).toEqual([...rows(2, 0), ...rows(2, 2)])
    expect(JSON.stringify(read.foreign)).not.toContain('routed_experts')
    for (const other of [rows(3, 2), 'AAAA', null, [[[1]], [[1]], [[1]], [[1]]]]) {
      const kept = routed(rows(3, 0), undefined, other)
      expect(nestedExperts(kept)).toBeUndefined()
      expect(kept.foreign).toHaveProperty('nemo-gym.output[2].routed_experts', other)
    }
    expect(nestedExperts(routed(undefined, undefined, rows(4, 2)))).toBeUndefined()
  })

  test('of a file of NeMo-Gym has its ids, logprobs, model, reward and group', () => {
    const records = foreignRecords('nemo-gym.jsonl') as readonly JsonObject[]
    const trajectories = records.map((record) => trajectoryOf(nemoGym, record))
    expect(trajectories.map(({ group, reward }) => [group?.id, group?.index, reward])).toEqual([
      ['0', 0, 0],
      ['0', 1, 1],
      ['1', 0, 0],
      ['1', 1, 1],
    ])
    for (const [number, trajectory] of trajectories.entries()) {
      const items = ((records[number] as JsonObject).response as { readonly output: readonly JsonObject[] }).output
      const turns = calls(trajectory).map(({ prompt, response }) => [prompt, response.ids, response.logprobs])
      expect(turns).toEqual(
        items
          .filter((item) => 'generation_token_ids' in item)
          .map((item) => [item.prompt_token_ids, item.generation_token_ids, item.generation_log_probs]),
      )
      expect(trajectory.model).toMatchObject({ name: 'tiny-qwen3', tools: [{ name: 'calculator' }] })
    }
    expect(trajectoryOf(nemoGym, { output: [answer], model: 'm' }).model.name).toBe('m')
  })

  test('has the messages of its request, and those that the items of each answer form', () => {
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' }
    const output = [
      { type: 'reasoning', summary: [{ text: 'Hm.' }] },
      { ...answer, ...call },
      { ...tool, call_id: 'c' },
      { ...next, role: 'assistant', content: [{ type: 'output_text', text: '4' }] },
    ]
    const messages = (input: unknown) =>
      conversation(
        trajectoryOf(nemoGym, { responses_create_params: { instructions: 'Add.', input }, response: { output } }),
      )
    expect(messages([{ role: 'user', content: 'q' }])).toEqual([
      { role: 'system', content: 'Add.' },
      { role: 'user', content: 'q' },
      { role: 'assistant', content: '', reasoning: 'Hm.', toolCalls: [{ id: 'c', name: 'f', input: {} }] },
      { role: 'tool', callId: 'c', content: '4' },
      { role: 'assistant', content: '4' },
    ])
    expect(messages('q')[1]).toEqual({ role: 'user', content: 'q' })
    expect(messages([7]).map(({ role }) => role)).toEqual(['assistant', 'assistant'])
  })

  test('keeps items that are no objects', () => {
    expect(trajectoryOf(nemoGym, { output: [answer] }).foreign).toEqual({
      'nemo-gym': { output: [{ type: 'message' }] },
    })
    const { type: _, ...ids } = answer
    expect(trajectoryOf(nemoGym, { output: [ids] }).foreign).toEqual({ 'nemo-gym': { output: [{}] } })
    expect(() => trajectoryOf(nemoGym, { output: [answer, 'x'] })).toThrow('output[1]: expected an object')
  })

  test('whose second prompt differs has two trajectories', () => {
    const [, second] = trajectoriesOf(
      nemoGym,
      { output: [answer, { ...next, prompt_token_ids: [1, 2, 9] }] },
      numberedSource(),
    )
    expect(second?.forkedFrom).toEqual({ trajectory: 'id 0', token: 2, kind: 'rendered_again' })
  })

  test.each([
    [{ output: [{ generation_token_ids: [1] }] }, 'output[0].prompt_token_ids: expected the ids of the prompt'],
    [{ output: [{ ...answer, generation_token_ids: 'x' }] }, 'output[0].generation_token_ids: expected an array'],
    [{ output: [answer], reward: 'x' }, 'reward: expected a number, found "x"'],
  ])('with an error is refused with its path', (value, message) => {
    expect(() => trajectoriesOf(nemoGym, value)).toThrow(message)
  })
})

describe('A GeneratorOutput of SkyRL', () => {
  const output = {
    prompt_token_ids: [[1], [1], [1]],
    response_ids: [[2, 3], [4], [5]],
    loss_masks: [[1, 1], [1], [1]],
    rewards: [[null, 1], [0.5], [0]],
    stop_reasons: ['stop', 'length', 'abort'],
    rollout_logprobs: [[-1, -2], [-3], null],
    trajectory_ids: [{ instance_id: 'q', repetition_id: 0 }, 'q_1', 'other'],
    is_last_step: [true, true, false],
    rollout_metrics: { a: 1 },
  }

  test('has a trajectory for each sample', () => {
    opens(output, 'skyrl')
    const read = trajectoriesOf(skyrl, output, numberedSource())
    expect(read).toMatchObject([
      {
        reward: 1,
        group: { id: 'q', index: 0 },
        outcome: { reason: 'end_turn' },
        segments: [{ ids: [1] }, { ids: [2, 3], logprobs: [-1, -2], columns: { tokenReward: [null, 1] } }],
      },
      { reward: 0.5, group: { id: 'q', index: 1 }, outcome: { reason: 'length' } },
      { reward: 0, group: { id: 'other', index: 0 }, outcome: { reason: 'aborted' } },
    ])
  })

  test('may have one reward for each sample, and no further lists', () => {
    const { prompt_token_ids, response_ids, loss_masks } = output
    const [first] = trajectoriesOf(skyrl, { prompt_token_ids, response_ids, loss_masks, rewards: [1, 0, null] })
    expect(first).toMatchObject({ reward: 1, outcome: { reason: 'unknown' } })
    expect(first).not.toHaveProperty('group')
    const [passed] = trajectoriesOf(skyrl, { prompt_token_ids, response_ids, loss_masks, rewards: [true, false, null] })
    expect(passed).toMatchObject({ reward: 1 })
  })

  test('gives each sample its routed experts and its entry of further lists, and keeps experts of other tokens as they are', () => {
    const rollout_expert_indices = [[[[4, 5]], [[6, 7]]], [[[8, 9]]], [[[1, 2]], [[3, 4]]]]
    const env_metrics = [{ turns: 1 }, { turns: 2 }, { turns: 3 }]
    const read = trajectoriesOf(skyrl, { ...output, rollout_expert_indices, env_metrics }, numberedSource())
    expect(read.map((trajectory) => nestedExperts(trajectory))).toEqual([
      ...rollout_expert_indices.slice(0, 2),
      undefined,
    ])
    const { rollout_metrics } = output
    expect(read.map(({ foreign }) => foreign?.skyrl)).toEqual([
      { rollout_metrics, env_metrics: [{ turns: 1 }] },
      { rollout_metrics, env_metrics: [{ turns: 2 }] },
      { rollout_metrics, env_metrics: [{ turns: 3 }], rollout_expert_indices: rollout_expert_indices[2] },
    ])
  })

  test.each([
    [{ rewards: [1] }, 'rewards: expected 3 entries (one for each sample), found 1 entries'],
    [
      { loss_masks: [[1], [1], [1]] },
      'loss_masks[0]: expected 2 entries (one for each token of the response), found 1',
    ],
    [{ response_ids: [['a'], [], []] }, 'response_ids[0][0]: expected a number, found "a"'],
  ])('with an error is refused with its path', (change, message) => {
    expect(() => trajectoriesOf(skyrl, { ...output, ...change })).toThrow(message)
  })
})

describe('An AgentLoopOutput of verl', () => {
  const output = { prompt_ids: [1], response_ids: [2, 3], response_mask: [1, 0], response_logprobs: [-1, 0] }

  test('has the segments of its response mask', () => {
    opens(output, 'verl')
    const read = trajectoryOf(verl, { ...output, reward_score: 0.5, num_turns: 2 })
    expect(read).toMatchObject({
      reward: 0.5,
      segments: [{ ids: [1] }, { kind: 'response', ids: [2], logprobs: [-1] }, { kind: 'prompt', ids: [3] }],
      foreign: { verl: { num_turns: 2 } },
    })
    expect(trajectoryOf(verl, { ...output, reward_score: false }).reward).toBe(0)
  })

  test('has the routed experts of all tokens but the last, and keeps others unread', () => {
    const whole = { prompt_ids: [1, 2], response_ids: [3, 4], response_mask: [1, 1] }
    const experts = (rows: number) => Array.from({ length: rows }, (_, row) => [[row, row + 1]])
    const read = trajectoryOf(verl, { ...whole, routed_experts: experts(3) })
    expect(nestedExperts(read)).toEqual(experts(3))
    expect(read.foreign).toBeUndefined()
    expect(trajectoryOf(verl, { ...whole, num_turns: 2, routed_experts: experts(4) }).foreign).toEqual({
      verl: { num_turns: 2, routed_experts: experts(4) },
    })
    expect(trajectoryOf(verl, { ...whole, routed_experts: ['AAAA'] }).foreign).toEqual({
      verl: { routed_experts: ['AAAA'] },
    })
  })

  test('that verl wrote opens with the ids, mask, logprobs and reward that verl reads', () => {
    const golden: readonly unknown[] = JSON.parse(readFileSync('lib/formats/golden/trainers.json', 'utf8')).verl
    const opened = openText(readFileSync('lib/formats/golden/foreign/verl-agent-loop.jsonl', 'utf8'), source)
    expect(opened).toMatchObject({ ok: true, format: { name: 'verl' }, failed: [] })
    const read = opened.ok ? opened.trajectories : []
    expect(
      read.map((trajectory) => {
        const mask = lossMask(trajectory)
        const scores = logprobs(trajectory).filter((_, token) => mask[token] === 1)
        return { ids: ids(trajectory), mask, logprobs: scores, reward: trajectory.reward }
      }),
    ).toEqual(golden)
    expect(read[0]?.foreign).toMatchObject({ verl: { num_turns: 4, metrics: { tool_calls: 0.25 } } })
  })

  test('with more segments than may be shown is refused', () => {
    const response_ids = Array(LIMITS.segments + 1).fill(1)
    const response_mask = response_ids.map((_, index) => index % 2)
    expect(() => trajectoryOf(verl, { prompt_ids: [], response_ids, response_mask })).toThrow(
      'response_mask: expected at most',
    )
  })

  test('with an error is refused with its path', () => {
    expect(() => trajectoryOf(verl, { ...output, response_mask: [2] })).toThrow('response_mask[0]: expected 0, 1, true')
    expect(() => trajectoryOf(verl, { ...output, response_logprobs: [] })).toThrow(
      'response_logprobs: expected 2 entries',
    )
  })
})

describe('A row of a token data set', () => {
  test('of the datasets library has the ids, logprobs, rewards and groups of its columns', () => {
    const lines = readFileSync('lib/formats/golden/foreign/token-dataset.jsonl', 'utf8')
    const golden: readonly Readonly<Record<string, unknown>>[] = JSON.parse(
      readFileSync('lib/formats/golden/datasets.json', 'utf8'),
    )
    const opened = openText(lines, source)
    expect(opened).toMatchObject({ ok: true, format: { name: 'token-dataset' } })
    const read = opened.ok ? opened.trajectories : []
    expect(
      read.map(({ segments: [prompt, response], reward, group }) => ({
        prompt_token_ids: prompt?.ids,
        completion_token_ids: response?.ids,
        logprobs: response?.logprobs,
        reward,
        prompt_id: group?.id,
      })),
    ).toEqual(golden)
    expect(read[0]).toMatchObject({
      model: { tools: [{ name: 'calculator' }] },
      segments: [
        { messages: [{ role: 'user' }, { role: 'assistant', toolCalls: [{ name: 'calculator' }] }, { role: 'tool' }] },
        { message: { role: 'assistant' } },
      ],
    })
    expect(read.map(({ group }) => group?.index)).toEqual([0, 1, 0, 1])
  })

  test('with labels has the loss mask of those that are not -100', () => {
    const row = { input_ids: [1, 2, 3], labels: [-100, 2, 3] }
    opens(row, 'token-dataset')
    expect(lossMask(trajectoryOf(tokenDataset, row))).toEqual([0, 1, 1])
  })

  test('loses the tokens that its attention mask excludes', () => {
    const row = { input_ids: [1, 2, 0, 0], labels: [-100, 2, -100, -100], attention_mask: [1, 1, 0, 0] }
    const read = trajectoryOf(tokenDataset, row)
    expect([ids(read), lossMask(read)]).toEqual([
      [1, 2],
      [0, 1],
    ])
    expect(read.provenance).toMatchObject({
      lacked: expect.arrayContaining(['2 tokens that attention_mask marks as padding: removed']),
    })
  })

  test('loses padding before its prompt and after its completion, in columns of either length', () => {
    const padded = { prompt_ids: [0, 0, 1, 2], completion_ids: [3, 4, 0], attention_mask: [0, 0, 1, 1, 1, 1, 0] }
    for (const columns of [
      {},
      { logprobs: [-1, -2, 0] },
      { logprobs: [0, 0, 0, 0, -1, -2, 0] },
      { labels: [-100, -100, -100, -100, 3, 4, -100] },
    ]) {
      const read = trajectoryOf(tokenDataset, { ...padded, ...columns })
      expect([ids(read), lossMask(read)]).toEqual([
        [1, 2, 3, 4],
        [0, 0, 1, 1],
      ])
      expect(logprobs(read).slice(2)).toEqual('logprobs' in columns ? [-1, -2] : [null, null])
    }
  })

  test('with tokens and metrics has a column for each metric', () => {
    const row = { tokens: [1, 2], metrics: { logprobs: [-1, -2], entropy: [0.5, 1], length: 2, novelty: [3, 4] } }
    opens(row, 'token-dataset')
    const read = trajectoryOf(tokenDataset, row)
    expect(read.segments).toMatchObject([
      { kind: 'response', logprobs: [-1, -2], columns: { entropy: [0.5, 1], novelty: [3, 4] } },
    ])
    expect(read.columnMeanings).toMatchObject({ novelty: { quantity: 'other', source: 'novelty' } })
    expect(read.provenance).toMatchObject({ missing: expect.arrayContaining(['mask']) })
    expect(read.foreign).toEqual({ 'token-dataset': { metrics: { length: 2 } } })
  })

  test('keeps a reward that is no number', () => {
    const read = (reward: unknown) => trajectoryOf(tokenDataset, { input_ids: [1, 2], labels: [-100, 2], reward })
    expect(read(true)).toMatchObject({ reward: 1 })
    expect(read('0.5').reward).toBeUndefined()
    expect(read({ score: 1 })).toMatchObject({
      foreign: { 'token-dataset': { reward: { score: 1 } } },
      provenance: { lacked: expect.arrayContaining(['reward: expected a number, found an object with score']) },
    })
  })

  test('may have columns over all tokens of prompt and completion', () => {
    const row = { prompt_ids: [1], completion_ids: [2, 3], logprobs: [-1, -2, -3], ref_logprobs: [-1, -2, -4] }
    const read = trajectoryOf(tokenDataset, row)
    expect([lossMask(read), logprobs(read)]).toEqual([
      [0, 1, 1],
      [-1, -2, -3],
    ])
    expect(read.segments[1]).toMatchObject({ columns: { referenceLogprobs: [-2, -4] } })
  })

  test.each([
    [{ input_ids: [1, 2], labels: [2, -100] }, 'labels[0]: expected -100, or 1 (the id of the token), found 2'],
    [{ input_ids: [1, 2], labels: [1] }, 'labels: expected 2 entries (one for each token), found 1 entries'],
    [{ input_ids: [1, 2], attention_mask: [1] }, 'attention_mask: expected 2 entries (one for each token), found 1'],
    [
      { input_ids: [1, 2, 0], attention_mask: [1, 1, 0], loss_mask: [0, 1, 0], logprobs: [-1] },
      'logprobs: expected 2 entries (one for each token), found 1 entries',
    ],
    [{ input_ids: [1, -2] }, 'input_ids[1]: expected at least 0, found -2'],
    // -100 as an unsigned number.
    [{ input_ids: [1, 4294967196] }, 'input_ids[1]: expected at most 2147483647, found 4294967196'],
    [{ input_ids: [1], labels: ['a'] }, 'labels[0]: expected a number, found "a"'],
    [{ prompt_ids: [1], completion_ids: [2], logprobs: [-1, -2, -3] }, 'logprobs: expected 1 entries'],
  ])('with an error is refused with its path', (row, message) => {
    expect(() => trajectoryOf(tokenDataset, row)).toThrow(message)
  })
})
