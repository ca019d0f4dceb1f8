/** Records come from files that the tools wrote, or have the fields that their writers document. */
import { expect, test } from 'vitest'
import { source } from '#testing/trajectories.ts'
import { strandsSglang } from '../strands-sglang.ts'
import { slime } from '../trainers/slime.ts'
import { openText } from './open.ts'
import { openEach } from './open-each.ts'
import { unsupportedFormat } from './unsupported.ts'

const RECORDS: readonly (readonly [name: string, record: object])[] = [
  [
    'the task of an Agent Lightning rollout, whose tokens are in the events of its attempts',
    { rollout: { rollout_id: 'r', input: { question: 'hi' }, status: { state: 'queuing' } }, attempts: ['0'] },
  ],
  [
    'the result of a trial of Harbor without rollout details, whose messages are in the trajectory of its agent',
    { task_name: 't', trial_name: 't__1', agent_info: { name: 'a' }, agent_result: null, verifier_result: null },
  ],
  ['the settings of a llama.cpp server', { default_generation_settings: {}, total_slots: 1 }],
  ['a reply of a chat or completions endpoint', { object: 'chat.completion', choices: [] }],
  [
    'a log tree of tinker-cookbook, whose rollouts are in its capture',
    {
      title: 'Iteration 3',
      started_at: '2026-11-30T00:00:00',
      path: null,
      root: { tag: 'body', attrs: {}, children: [] },
    },
  ],
  [
    'the summary of a rollout of tinker-cookbook, whose ids are in its capture',
    { schema_version: 1, split: 'train', traj_idx: 0, steps: [{ ob_len: 3, ac_len: 2 }], final_ob_len: 5 },
  ],
  ['a tokenizer', { added_tokens: [], pre_tokenizer: null }],
  ['the settings of a tokenizer', { tokenizer_class: 'Qwen2Tokenizer' }],
  ['a chat whose messages cannot be read', { messages: [{ type: 'human' }] }],
  [
    'a checkpoint of LangGraph, whose state opens when it is written with `dumps` of langchain_core.load',
    { thread_id: 't', checkpoint_ns: '', checkpoint_id: 'c', checkpoint: 'AA==' },
  ],
]

test.each(RECORDS)('openFile refuses a file of %s by its name', async (name, record) => {
  const refused = { ok: false, error: { message: expect.stringMatching(new RegExp(`found ${name}$`)) } }
  expect(openText(JSON.stringify(record), source)).toMatchObject(refused)
  expect(openText(`${JSON.stringify(record)}\n${JSON.stringify(record)}\n`, source)).toMatchObject(refused)
  expect(await openedEach(JSON.stringify(record))).toMatchObject([refused])
})

test('openFile refuses a prime-rl token export by its name if another format is requested', () => {
  const primeRl = { token_ids: [1, 2], loss_mask: [false, true], inference_logprobs: [0, -0.5] }
  expect(openText(JSON.stringify(primeRl), source, strandsSglang)).toMatchObject({
    error: {
      message: expect.stringContaining(
        'expected a trajectory of strands-sglang, found a record of prime-rl token export',
      ),
    },
  })
})

test.each([
  ['strands-sglang', { token_ids: [1], loss_mask: [1], logprobs: [-1], trainer_logprobs: [-1] }],
  ['strands-sglang', { token_ids: [1], segment_info: [[true, 1]], inference_logprobs: [-1] }],
  ['strands-sglang', { rollout: { token_ids: [1], loss_mask: [1] }, attempts: [], messages: [], choices: [] }],
  ['slime', { tokens: [1], response_length: 1, sample_index: 3, loss_mask: [1], messages: [] }],
  ['torchrl', { tokens: { full: [1], response: [1] }, meta_info: {} }],
])('openFile opens a %s record with fields that other tools have too', (format, record) => {
  expect(openText(JSON.stringify(record), source)).toMatchObject({ ok: true, format: { name: format } })
})

test('unsupportedFormat has no name for a value that no known tool wrote', () => {
  expect(
    [{ hello: 1 }, { info: {} }, { schema_version: 1 }, { error: null }, { error: {} }, null, [{}], 7].map(
      unsupportedFormat,
    ),
  ).toEqual(Array(8).fill(undefined))
  expect(openText('{"hello": 1}', source, slime)).toMatchObject({
    error: { message: 'expected a trajectory of slime, found an object with hello' },
  })
})

test.each([
  ['vLLM', { error: { message: 'Overloaded', type: 'InternalServerError', param: null, code: 500 } }],
  ['SGLang', { object: 'error', message: 'Overloaded', type: 'BadRequestError', param: null, code: 400 }],
  ['Ollama', { error: 'Overloaded' }],
])('openFile shows the message of an error of %s, alone and after the chunks of a stream', (_, error) => {
  const found = 'found an error of a server, "Overloaded"'
  expect(openText(JSON.stringify(error), source)).toMatchObject({ error: { message: expect.stringContaining(found) } })
  const chunk = { object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'half' } }] }
  expect(openText(`${JSON.stringify(chunk)}\n${JSON.stringify(error)}\n`, source)).toMatchObject({
    ok: true,
    trajectories: [{ provenance: { lacked: expect.arrayContaining([expect.stringContaining(found)]) } }],
  })
})

const openedEach = (text: string) =>
  Array.fromAsync(
    openEach(
      (async function* () {
        yield Buffer.from(text)
      })(),
      source,
    ),
  )
