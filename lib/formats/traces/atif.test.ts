/** The files were written by Harbor, and harbor.json by Harbor's own models (golden/make_harbor.py). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { kindsAndIds, numberedSource } from '#testing/trajectories.ts'
import { calls, trajectoriesOf, trajectoryOf } from '../test-trajectories.ts'
import { atif } from './atif.ts'

interface GoldenStep {
  readonly prompt: readonly number[]
  readonly completion: readonly number[]
  readonly logprobs: readonly number[]
  readonly usage: readonly [number, number]
}
const golden: { readonly files: Readonly<Record<string, readonly GoldenStep[]>> } = JSON.parse(
  readFileSync('lib/formats/golden/harbor.json', 'utf8'),
)
/** The model wrote the end of its tool call with ids 10 and 303; encoding the text again gave id 331. */
const FIRST_DIFFERENCE = 194

const fileOf = (version: string): object =>
  JSON.parse(readFileSync(`lib/formats/golden/foreign/atif-${version}.json`, 'utf8'))

describe.each(Object.entries(golden.files))('A file of ATIF %s', (version, steps) => {
  const read = trajectoriesOf(atif, fileOf(version), numberedSource())

  test('has the ids and logprobs of every step that Harbor reads', () => {
    const responses = read.flatMap(calls).map(({ prompt, response }) => ({
      prompt,
      completion: response.ids,
      logprobs: response.logprobs,
      usage: response.usage,
    }))
    expect(responses).toEqual(
      steps.map(({ usage: [promptTokens, completionTokens], ...step }) => ({
        ...step,
        usage: { promptTokens, completionTokens },
      })),
    )
  })

  test('has a second trajectory where the first reply was encoded again, and names the first difference', () => {
    expect(read.map(({ forkedFrom }) => forkedFrom)).toEqual([
      undefined,
      { trajectory: read[0]?.id, token: FIRST_DIFFERENCE, kind: 'rendered_again' },
    ])
  })

  test('has messages, tools, the model and what the file lacks', () => {
    expect(read[0]).toMatchObject({
      model: { name: 'tiny-qwen3', tools: [{ name: 'calculator' }] },
      segments: [
        { messages: [{ role: 'user', content: 'What is 25 * 17?' }] },
        { message: { role: 'assistant', tool_calls: [{ function: { name: 'calculator' } }] } },
      ],
      provenance: { missing: ['texts', 'logprob_values', 'temperature', 'mask', 'special_tokens'] },
      columnMeanings: { logprobs: { quantity: 'logprob', model: 'rollout', source: 'steps[].metrics.logprobs' } },
      foreign: { atif: { session_id: 's0', trajectory_id: 't0' } },
    })
    expect(read[1]?.segments).toMatchObject([
      {
        messages: [
          { role: 'user', content: 'What is 25 * 17?' },
          { role: 'assistant', toolCalls: [{ name: 'calculator', input: { expression: '25 * 17' } }] },
          { role: 'tool', callId: 'call_968e0f9497cd44acaada2af0', content: '425' },
        ],
      },
      { message: { content: '\n\nThe result is 425.', reasoning_content: '\nThe calculator returned 425.\n' } },
    ])
  })
})

const user = { step_id: 1, source: 'user', message: 'hi' }
const agentStep = (metrics: object | undefined, more: object = {}) => ({
  source: 'agent',
  message: 'answer',
  ...(metrics && { metrics }),
  ...more,
})
const fileWith = (...steps: readonly object[]) => ({ schema_version: 'ATIF-v1.8', agent: { name: 'a' }, steps })

describe('An ATIF step', () => {
  test('whose prompt does not continue the earlier tokens begins a second trajectory that names the first difference', () => {
    const [first, second] = trajectoriesOf(
      atif,
      fileWith(
        user,
        agentStep({ prompt_token_ids: [1, 2], completion_token_ids: [3, 4, 5], logprobs: [-1, -2, -3] }),
        agentStep({ prompt_token_ids: [1, 2, 3, 9, 5, 6], completion_token_ids: [7], logprobs: [-4] }),
      ),
      numberedSource(),
    )
    expect(first && kindsAndIds(first)).toEqual([
      { kind: 'prompt', ids: [1, 2] },
      { kind: 'response', ids: [3, 4, 5] },
    ])
    expect(first?.forkedFrom).toBeUndefined()
    expect(second && kindsAndIds(second)).toEqual([
      { kind: 'prompt', ids: [1, 2, 3, 9, 5, 6] },
      { kind: 'response', ids: [7] },
    ])
    expect(second?.forkedFrom).toEqual({ trajectory: first?.id, token: 3, kind: 'rendered_again' })
    expect(second?.segments[0]).toMatchObject({
      messages: [{ role: 'user' }, { role: 'assistant', content: 'answer' }],
    })
  })

  test('whose prompt differs within an earlier prompt comes from an edited message', () => {
    const [, second] = trajectoriesOf(
      atif,
      fileWith(
        agentStep({ prompt_token_ids: [1, 2], completion_token_ids: [3] }),
        agentStep({ prompt_token_ids: [1, 8, 3, 4], completion_token_ids: [5] }),
      ),
      numberedSource(),
    )
    expect(second?.forkedFrom).toMatchObject({ token: 1, kind: 'message' })
  })

  test('with the same prompt as an earlier one was sampled again', () => {
    const [, second] = trajectoriesOf(
      atif,
      fileWith(
        agentStep({ prompt_token_ids: [1, 2], completion_token_ids: [3] }),
        agentStep({ prompt_token_ids: [1, 2], completion_token_ids: [4] }),
      ),
      numberedSource(),
    )
    expect(second?.forkedFrom).toMatchObject({ token: 2, kind: 'sampled_again' })
  })

  test('with another number of logprobs than ids keeps its ids, and a problem reports both numbers', () => {
    const read = trajectoryOf(
      atif,
      fileWith(user, agentStep({ prompt_token_ids: [1], completion_token_ids: [2, 3], logprobs: [-1, -2, -3] })),
    )
    expect(logprobs(read)).toEqual([null, null, null])
    expect(read.segments[1]?.problems).toMatchObject([
      { kind: 'count', column: 'logprobs', message: expect.stringContaining('3 logprobs for 2 tokens') },
    ])
    expect(read.provenance).toMatchObject({ missing: ['texts', 'logprobs', 'mask', 'special_tokens'] })
  })

  test('without prompt ids, as before ATIF 1.4, is a response after a prompt without ids', () => {
    const read = trajectoryOf(
      atif,
      fileWith(user, agentStep({ completion_token_ids: [2, 3] }), user, agentStep({ completion_token_ids: [4] })),
    )
    expect(kindsAndIds(read)).toEqual([
      { kind: 'prompt', ids: [] },
      { kind: 'response', ids: [2, 3] },
      { kind: 'prompt', ids: [] },
      { kind: 'response', ids: [4] },
    ])
    expect(read.provenance).toMatchObject({ lacked: expect.arrayContaining(['token ids of the prompts']) })
  })

  test('that was copied from another trajectory is not trained', () => {
    const read = trajectoryOf(
      atif,
      fileWith(
        agentStep({ prompt_token_ids: [1], completion_token_ids: [2] }, { is_copied_context: true }),
        agentStep({ prompt_token_ids: [1, 2], completion_token_ids: [3] }),
      ),
    )
    expect(lossMask(read)).toEqual([0, 0, 1])
  })

  test('that counts other prompt tokens than it has, or combines several calls, has a problem', () => {
    const read = trajectoryOf(
      atif,
      fileWith(
        agentStep(
          { prompt_tokens: 4, cached_tokens: 1, prompt_token_ids: [1], completion_token_ids: [2] },
          { llm_call_count: 2 },
        ),
      ),
    )
    expect(read.segments[1]?.problems?.map(({ message }) => message)).toEqual([
      'The server counted 4 prompt tokens, and the file has 1.',
      'The step combines 2 calls of the model; its numbers may be those of several.',
    ])
    expect(read.segments[1]).toMatchObject({ usage: { promptTokens: 4, cachedTokens: 1 } })
  })

  test('without ids in a file with ids becomes a message of the next prompt', () => {
    const read = trajectoryOf(
      atif,
      fileWith(
        { source: 'system', message: [{ type: 'text', text: 'be brief' }] },
        agentStep(undefined, { llm_call_count: 0 }),
        agentStep({ prompt_token_ids: [1], completion_token_ids: [2] }),
        { source: 'user', message: 'and then?' },
      ),
    )
    expect(read.segments[0]).toMatchObject({
      messages: [{ role: 'system', content: 'be brief' }, { role: 'assistant' }],
    })
    expect(read.outcome).toMatchObject({ unsent: [{ role: 'user', content: 'and then?' }] })
    expect(read.provenance).toMatchObject({ lacked: expect.arrayContaining(['token ids of 1 step of the agent']) })
  })
})

test('An ATIF file without ids opens as messages, and its ids are missing', () => {
  const read = trajectoryOf(
    atif,
    fileWith(
      user,
      agentStep(undefined, { tool_calls: [{ function_name: 'f' }], observation: { results: [{}] } }),
      agentStep({}),
    ),
  )
  expect(read.segments).toMatchObject([
    { kind: 'prompt', ids: [], messages: [{ role: 'user' }] },
    { kind: 'response', ids: [], message: { tool_calls: [{ function: { name: 'f', arguments: '{}' } }] } },
    { kind: 'prompt', ids: [], messages: [{ role: 'tool', content: '' }] },
    { kind: 'response', ids: [], message: { content: 'answer' } },
  ])
  expect(read.provenance).toMatchObject({ missing: ['ids', 'mask', 'logprobs', 'special_tokens'] })
})

test('An ATIF file opens with its embedded subagents, and a problem of one has its path', () => {
  const subagent = fileWith(user, agentStep({ prompt_token_ids: [8], completion_token_ids: [9] }))
  const file = fileWith(user, agentStep({ prompt_token_ids: [1], completion_token_ids: [2] }))
  expect(trajectoriesOf(atif, { ...file, subagent_trajectories: [subagent] }).map(kindsAndIds)).toEqual([
    kindsAndIds(trajectoryOf(atif, file)),
    kindsAndIds(trajectoryOf(atif, subagent)),
  ])
  expect(() => trajectoriesOf(atif, { ...file, subagent_trajectories: [{ ...subagent, steps: [{}] }] })).toThrow(
    'subagent_trajectories[0].steps[0].source: expected',
  )
})

test.each([
  [{ steps: [] }, 'steps: expected at least 1, found an array of 0'],
  [{ steps: [{ source: 'robot' }] }, 'steps[0].source: expected'],
  [
    { steps: [agentStep({ completion_token_ids: [-1] })] },
    'steps[0].metrics.completion_token_ids[0]: expected at least 0, found -1',
  ],
])('An ATIF file with an error is refused with its path: %j', (change, message) => {
  expect(() => trajectoryOf(atif, { ...fileWith(), ...change })).toThrow(message)
})

test('Only a schema_version of ATIF is a file of Harbor', () => {
  expect([{ schema_version: 'v2' }, { schema_version: 1 }, 7].map((value) => atif.sniff(value))).toEqual(
    Array(3).fill(false),
  )
})

test('An ATIF step without a message has an empty one, and its results belong to the next prompt', () => {
  const silent = { source: 'agent', metrics: { prompt_token_ids: [1], completion_token_ids: [2] } }
  expect(trajectoryOf(atif, fileWith({ source: 'user' }, silent)).segments).toMatchObject([
    { messages: [{ role: 'user', content: '' }] },
    { message: { role: 'assistant', content: '' } },
  ])
})

test('An ATIF step continues the sequence with which its prompt shares the most tokens', () => {
  const call = (prompt: readonly number[], sampled: number) =>
    agentStep({ prompt_token_ids: prompt, completion_token_ids: [sampled] })
  const read = trajectoriesOf(atif, fileWith(call([1], 2), call([1, 5, 6], 7), call([1, 5, 6, 8], 9)), numberedSource())
  expect(read.map(({ forkedFrom }) => forkedFrom)).toEqual([
    undefined,
    { trajectory: 'id 0', token: 1, kind: 'rendered_again' },
    { trajectory: 'id 1', token: 3, kind: 'rendered_again' },
  ])
})

test('An ATIF file that Rollscope wrote has its reward', () => {
  const file = { ...fileWith(user, agentStep({})), extra: { rollscope: { reward: 0.5 } } }
  expect(trajectoryOf(atif, file).reward).toBe(0.5)
  expect(trajectoryOf(atif, { ...file, extra: { rollscope: {} } })).not.toHaveProperty('reward')
})
