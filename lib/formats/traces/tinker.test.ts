/** The rows were written by tinker-cookbook's capture store, and tinker.json by its own reader (golden/make_tinker.py). */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { kindsAndIds, numberedSource } from '#testing/trajectories.ts'
import { calls, trajectoriesOf } from '../test-trajectories.ts'
import { tinkerCapture } from './tinker.ts'

interface GoldenCall {
  readonly group: number
  readonly trajectory: number
  readonly prompt: readonly number[]
  readonly sampled: readonly number[]
  readonly logprobs: readonly number[]
  readonly version: string
}
const golden: { readonly calls: readonly GoldenCall[] } = JSON.parse(
  readFileSync('lib/formats/golden/tinker.json', 'utf8'),
)
const rows: readonly Readonly<Record<string, unknown>>[] = JSON.parse(
  readFileSync('lib/formats/golden/foreign/tinker-rows.json', 'utf8'),
)

test('The rows of tinker-cookbook become one trajectory for each rollout, with the ids and logprobs that its reader gives', () => {
  const read = trajectoriesOf(tinkerCapture, rows, numberedSource())
  const found = read.flatMap((trajectory) =>
    calls(trajectory).map(({ prompt, response }) => ({
      group: Number(trajectory.group?.id.split('/').at(-1)),
      trajectory: trajectory.group?.index,
      prompt,
      sampled: response.ids,
      logprobs: response.logprobs,
      version: response.weightVersions?.[0]?.version,
    })),
  )
  expect(found).toEqual(golden.calls)
  // In two rollouts, the prompt of the second call has other ids for the first reply.
  expect(read.map(({ group, forkedFrom }) => [group?.id, group?.index, forkedFrom])).toEqual([
    ['calc-run/train/3/0', 0, undefined],
    ['calc-run/train/3/0', 0, { trajectory: 'id 0', token: 194, kind: 'rendered_again' }],
    ['calc-run/train/3/0', 1, undefined],
    ['calc-run/train/3/1', 0, undefined],
    ['calc-run/train/3/1', 1, undefined],
    ['calc-run/train/3/1', 1, { trajectory: 'id 4', token: 175, kind: 'rendered_again' }],
  ])
  expect(read[0]).toMatchObject({
    columnMeanings: { logprobs: { quantity: 'logprob', model: 'rollout', temperature: 1, engine: 'tinker' } },
    provenance: { missing: ['texts', 'messages', 'logprob_values', 'mask', 'special_tokens'] },
    foreign: { 'tinker-capture': { run_id: 'calc-run', split: 'train', iteration: 3, purpose: 'rollout' } },
  })
})

test('A row of tinker-cookbook is the same with lists or with the JSON texts that SQLite stores', () => {
  const asTexts = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        typeof value === 'object' && value !== null ? JSON.stringify(value) : value,
      ]),
    ),
  )
  expect(trajectoriesOf(tinkerCapture, asTexts)).toEqual(trajectoriesOf(tinkerCapture, rows))
})

const row = { run_id: 'r', prompt_tokens: [1], sampled_tokens: [2], logprobs: [-1], sampling_session_id: 's' }

test('Rows of tinker-cookbook outside of a rollout are trajectories of their own', () => {
  const read = trajectoriesOf(
    tinkerCapture,
    [
      { ...row, seq_id: 0, group_idx: 4, created_at: 0 },
      { ...row, seq_id: 1, group_idx: 4, logprobs: null },
    ],
    numberedSource(),
  )
  expect(read.map(({ group }) => group)).toEqual([
    { id: 'r/4', index: 0 },
    { id: 'r/4', index: 1 },
  ])
  expect(read[0]?.createdAt).toBe('1970-01-01T00:00:00.000Z')
  expect(trajectoriesOf(tinkerCapture, row)[0]?.group).toBeUndefined()
})

test('A prompt of tinker-cookbook that does not continue the rollout begins a second trajectory that names the first difference', () => {
  const [first, second] = trajectoriesOf(
    tinkerCapture,
    [
      { ...row, traj_idx: 0, seq_id: 1, prompt_tokens: [1, 7, 3], sampled_tokens: [5], metadata: { temperature: 0.5 } },
      { ...row, traj_idx: 0, seq_id: 0, metadata: { temperature: 1 } },
    ],
    numberedSource(),
  )
  expect(first && kindsAndIds(first)).toEqual([
    { kind: 'prompt', ids: [1] },
    { kind: 'response', ids: [2] },
  ])
  expect(second?.forkedFrom).toEqual({ trajectory: first?.id, token: 1, kind: 'rendered_again' })
})

test.each([
  [[{ ...row, prompt_tokens: '[1' }], '[0].prompt_tokens: expected an array, found "[1"'],
  [[row, { ...row, sampled_tokens: [1.5] }], '[1].sampled_tokens[0]: expected a whole number, found 1.5'],
])('A wrong row of tinker-cookbook is refused with its path', (value, message) => {
  expect(() => trajectoriesOf(tinkerCapture, value)).toThrow(message)
})

test('Only rows of a run are a capture of tinker-cookbook', () => {
  const { run_id: _, ...without } = row
  expect([row, without, { prompt_tokens: [] }, 7].map((value) => tinkerCapture.sniff(value))).toEqual([
    true,
    false,
    false,
    false,
  ])
})

test('A single row of tinker-cookbook with an error is refused with its path, and rows without numbers keep their order', () => {
  expect(() => trajectoriesOf(tinkerCapture, { ...row, sampled_tokens: [-1] })).toThrow(
    'sampled_tokens[0]: expected at least 0, found -1',
  )
  const next = { ...row, traj_idx: 0, prompt_tokens: [1, 2], sampled_tokens: [3] }
  expect(trajectoriesOf(tinkerCapture, [{ ...row, traj_idx: 0 }, next]).map(kindsAndIds)).toEqual([
    [
      { kind: 'prompt', ids: [1] },
      { kind: 'response', ids: [2] },
      { kind: 'response', ids: [3] },
    ],
  ])
})
