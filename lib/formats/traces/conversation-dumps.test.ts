import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { kindsAndIds, source } from '#testing/trajectories.ts'
import { openText } from '../reading/open.ts'
import { writableFormats } from '../registry.ts'
import { trajectoryOf } from '../test-trajectories.ts'
import { milesTrajectory, skyrlEval, verifiersResults } from './conversation-dumps.ts'

test('The trajectories that miles wrote open as messages with their rewards and groups', () => {
  const text = readFileSync('lib/formats/golden/foreign/miles-trajectory.jsonl', 'utf8')
  const opened = openText(text, source)
  expect(opened).toMatchObject({ ok: true, format: { name: 'miles-trajectory' } })
  const rows: readonly { messages: readonly object[]; reward: number; group_index: number; sample_index: number }[] =
    text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  const read = opened.ok ? opened.trajectories : []
  expect(read.map(({ reward, group }) => [reward, group])).toEqual(
    rows.map((row) => [row.reward, { id: String(row.group_index), index: row.sample_index }]),
  )
  expect(read[0]?.segments.filter(({ kind }) => kind === 'response').length).toBe(
    rows[0]?.messages.filter((message) => 'role' in message && message.role === 'assistant').length,
  )
  expect(read[0]).toMatchObject({
    outcome: { reason: 'end_turn' },
    provenance: { missing: ['ids', 'mask', 'logprobs', 'special_tokens'] },
  })
})

test('A miles trajectory without group, status and answers of the model is refused or has none', () => {
  const row = { sample_index: 0, status: null, messages: [{ role: 'assistant', content: 'a' }, 7] }
  expect(trajectoryOf(milesTrajectory, row)).toMatchObject({ outcome: { reason: 'unknown' } })
  // A name with a meaning in JavaScript is data.
  expect(trajectoryOf(milesTrajectory, { ...row, status: '__proto__' })).toMatchObject({
    outcome: { reason: 'unknown' },
  })
  expect(() => trajectoryOf(milesTrajectory, { ...row, messages: [] })).toThrow(
    'messages: expected a message of the model',
  )
  expect(() => trajectoryOf(milesTrajectory, { ...row, messages: 1 })).toThrow('messages: expected an array')
})

test('The evaluation that SkyRL wrote opens with its texts, rewards and stop reasons', () => {
  const golden: readonly {
    readonly prompt: string
    readonly response: string
    readonly reward: number
    readonly stop: string
  }[] = JSON.parse(readFileSync('lib/formats/golden/trainers.json', 'utf8')).skyrl
  const opened = openText(readFileSync('lib/formats/golden/foreign/skyrl-eval.jsonl', 'utf8'), source)
  expect(opened).toMatchObject({ ok: true, format: { name: 'skyrl-eval' }, failed: [] })
  expect(opened.ok && opened.trajectories).toMatchObject(
    golden.map(({ prompt, response, reward, stop }) => ({
      reward,
      outcome: { reason: stop === 'stop' ? 'end_turn' : stop },
      segments: [{ messages: [{ content: prompt }] }, { message: { content: response } }],
      foreign: { 'skyrl-eval': { data_source: 'gsm8k', stop_reason: stop } },
    })),
  )
})

test('An evaluation of SkyRL opens as prompt and answer', () => {
  const record = { input_prompt: 'hi', output_response: 'yes', score: [0, 1], stop_reason: 'stop', env_class: 'e' }
  expect(trajectoryOf(skyrlEval, record)).toMatchObject({
    reward: 1,
    outcome: { reason: 'end_turn' },
    segments: [{ messages: [{ role: 'user', content: 'hi' }] }, { message: { content: 'yes' } }],
    foreign: { 'skyrl-eval': { env_class: 'e' } },
  })
  const messages = [{ role: 'system', content: 's' }]
  expect(trajectoryOf(skyrlEval, { ...record, input_prompt: messages, score: 0.5, stop_reason: null })).toMatchObject({
    reward: 0.5,
    segments: [{ messages }, {}],
  })
  expect(() => trajectoryOf(skyrlEval, { ...record, output_response: 1 })).toThrow('output_response: expected a string')
})

test('Results of verifiers open as messages, or with the ids of their trajectory', () => {
  const result = { example_id: 3, prompt: [{ role: 'user', content: 'hi' }], completion: 'yes', reward: 1 }
  expect(trajectoryOf(verifiersResults, result)).toMatchObject({
    reward: 1,
    group: { id: '3' },
    segments: [{ messages: [{ role: 'user' }] }, { message: { content: 'yes' } }],
  })
  const tokens = { prompt_ids: [1], completion_ids: [2, 3], completion_mask: [1, 1], completion_logprobs: [-1, -2] }
  const read = trajectoryOf(verifiersResults, { ...result, is_truncated: true, trajectory: [{}, { tokens }] })
  expect(kindsAndIds(read)).toEqual([
    { kind: 'prompt', ids: [1] },
    { kind: 'response', ids: [2, 3] },
  ])
  const { completion_mask: _, ...unmasked } = tokens
  const all = trajectoryOf(verifiersResults, { ...result, trajectory: [{ tokens: unmasked }] })
  expect(lossMask(all)).toEqual([0, 1, 1])
  expect(read).toMatchObject({
    outcome: { reason: 'truncated' },
    columnMeanings: { logprobs: { quantity: 'logprob' } },
  })
  expect(() => trajectoryOf(verifiersResults, { ...result, trajectory: 1 })).toThrow('trajectory: expected an array')
  expect(() => trajectoryOf(verifiersResults, { ...result, completion: [] })).toThrow(
    'completion: expected a message of the model, found none',
  )
})

test('A record whose calls have any notation can be exported in every format', () => {
  const calls = [{ name: 'f' }, {}, { function: { name: 'g', arguments: '{}' } }]
  const record = { sample_index: 0, status: 'x', messages: [{ role: 'assistant', content: null, tool_calls: calls }] }
  const read = trajectoryOf(milesTrajectory, record)
  expect(writableFormats.map((format) => typeof format.write(read).value)).toEqual(writableFormats.map(() => 'object'))
})
