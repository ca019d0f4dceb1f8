/** Damages the files of other tools, and records of the tools whose files are not at hand. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { mutantOf } from './test-mutants.ts'
import { verdictOn } from './test-verdict.ts'

const SEED = 5
const MUTANTS = 80
const FOLDER = 'lib/formats/golden/foreign'
/** A record of each format without a file. */
const records = {
  'prime-rl': {
    step: 3,
    env_name: 'a',
    token_ids: [1, 2, 3],
    loss_mask: [false, true, true],
    rewards: [1, 1, 1],
    inference_logprobs: [0, -0.5, -0.25],
    trainer_logprobs: [-3, -0.5, -0.3],
    is_masked: [false, true, null],
  },
  'prime-rl rows': {
    step: 3,
    tokens: [
      { id: 1, text: 'a', loss_mask: false },
      { id: 2, loss_mask: true, inference_logprobs: -1 },
    ],
  },
  atropos: {
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
    inference_logprobs: [
      [1, -0.5, -0.25],
      [1, -1],
    ],
    messages: [[{ role: 'user', content: 'hi' }], null],
  },
  'nemo-rl': {
    idx: 0,
    content: [''],
    rewards: [1],
    input_lengths: [3],
    token_ids: [[1, 2, 3, 0]],
    token_loss_mask: [[0, 1, 1, 0]],
    generation_logprobs: [[0, -1, -2, 0]],
    prev_logprobs: [[0, -1.5, -2, 0]],
  },
  'nemo-gym': {
    responses_create_params: { tools: [] },
    response: {
      output: [{ prompt_token_ids: [1, 2], generation_token_ids: [3], generation_log_probs: [-1] }, { type: 'x' }],
    },
    reward: 1,
  },
  skyrl: {
    prompt_token_ids: [[1], [1]],
    response_ids: [[2, 3], [4]],
    loss_masks: [[1, 1], [1]],
    rewards: [[0, 1], [0.5]],
    stop_reasons: ['stop', null],
    rollout_logprobs: [[-1, -2], [-3]],
    trajectory_ids: [{ instance_id: 'q', repetition_id: 0 }, 'q_1'],
  },
  verl: { prompt_ids: [1], response_ids: [2, 3], response_mask: [1, 0], response_logprobs: [-1, 0], reward_score: 1 },
  slime: {
    format_version: 2,
    samples: [
      {
        tokens: [1, 2, 3],
        response_length: 2,
        loss_mask: [1, 0],
        rollout_log_probs: [-1, 0],
        log_probs: [-1, 0],
        sample_index: 1,
      },
    ],
  },
  labels: { input_ids: [1, 2, 0], labels: [-100, 2, -100], attention_mask: [1, 1, 0] },
  metrics: { tokens: [1, 2], metrics: { logprobs: [-1, -2], entropy: [0.5, 1], x: [1, 2] } },
}
const files = [
  ...readdirSync(FOLDER)
    .filter((name) => /\.jsonl?$/.test(name))
    .map((name) => ({ name, text: readFileSync(`${FOLDER}/${name}`, 'utf8').split('\n').slice(0, 2).join('\n') })),
  ...Object.entries(records).map(([name, value]) => ({ name, text: JSON.stringify(value) })),
]

test(`${MUTANTS} mutated files of other tools each open, or are refused with a position and advice (seed ${SEED})`, async () => {
  const kinds = { opened: 0, refused: 0 }
  for (let number = 0; number < MUTANTS; number++) {
    const { origin, bytes } = mutantOf(files, number, SEED)
    const verdict = await verdictOn(bytes).catch((error: unknown) => {
      throw new Error(`mutant ${number}, ${origin}`, { cause: error })
    })
    kinds[verdict.kind]++
  }
  expect(kinds.opened).toBeGreaterThan(MUTANTS / 20)
  expect(kinds.refused).toBeGreaterThan(MUTANTS / 4)
})
