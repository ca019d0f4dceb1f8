/** The dumps were written by miles, and miles.json from the same files by Python (golden/make_miles.py). */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { ids, logprobs, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { source } from '#testing/trajectories.ts'
import { openText } from '../reading/open.ts'
import { trajectoriesOf } from '../test-trajectories.ts'
import { milesColumns } from './miles-columns.ts'
import { trainDump } from './train-dump.ts'

const file = (name: string): string => readFileSync(`lib/formats/golden/${name}`, 'utf8')
const golden: Readonly<Record<'rollout' | 'train' | 'columns', readonly Readonly<Record<string, unknown>>[]>> =
  JSON.parse(file('miles.json'))

/** Returns a column over all tokens from the first trained one. */
const column = ({ segments }: Trajectory, name: string) =>
  segments.flatMap((segment) => (segment.kind === 'response' ? (segment.columns?.[name] ?? []) : []))
const responseLength = ({ segments }: Trajectory): number =>
  segments.flatMap((segment) => (segment.kind === 'response' ? segment.ids : [])).length

test('The train dump of miles has the tokens, masks, rewards and numbers of each sample', () => {
  const read = trajectoriesOf(trainDump, JSON.parse(file('foreign/miles-train-data.json')))
  expect(
    read.map((trajectory) => ({
      index: Number(trajectory.title?.split(' ')[1]),
      tokens: ids(trajectory),
      mask: lossMask(trajectory).slice(-responseLength(trajectory)),
      reward: trajectory.reward,
      rollout_log_probs: logprobs(trajectory).slice(-responseLength(trajectory)),
      log_probs: column(trajectory, 'trainerLogprobs'),
      ref_log_probs: column(trajectory, 'referenceLogprobs'),
      advantages: column(trajectory, 'advantage'),
      returns: column(trajectory, 'return'),
      entropy: column(trajectory, 'entropy'),
      ref_entropy: column(trajectory, 'referenceEntropy'),
    })),
  ).toEqual(golden.train)
  expect(read[0]).toMatchObject({
    outcome: { kind: 'ended', reason: 'unknown' },
    columnMeanings: {
      logprobs: { quantity: 'logprob', model: 'rollout', source: 'rollout_log_probs' },
      trainerLogprobs: { quantity: 'logprob', model: 'trainer', source: 'log_probs' },
      referenceLogprobs: { quantity: 'logprob', model: 'reference', source: 'ref_log_probs' },
      advantage: { quantity: 'advantage' },
      return: { quantity: 'return' },
      entropy: { quantity: 'entropy', model: 'trainer' },
    },
    provenance: { missing: ['texts', 'messages', 'logprob_values', 'temperature', 'special_tokens'] },
  })
  expect(read[1]?.outcome).toEqual({ kind: 'ended', reason: 'truncated' })
})

test('The rollout dump of miles opens as slime samples with ids, logprobs, rewards and groups', () => {
  const opened = openText(file('foreign/miles-rollout-data.json'), source)
  expect(opened).toMatchObject({ ok: true, format: { name: 'slime' } })
  expect(
    opened.ok &&
      opened.trajectories.map((trajectory) => ({
        tokens: ids(trajectory),
        rollout_log_probs: logprobs(trajectory).slice(-responseLength(trajectory)),
        reward: trajectory.reward,
        group: trajectory.group,
      })),
  ).toEqual(
    golden.rollout.map(({ tokens, rollout_log_probs, reward, group_index, index }) => ({
      tokens,
      rollout_log_probs,
      reward,
      group: { id: String(group_index), index },
    })),
  )
})

test('The dashboard columns of miles have the tokens and logprobs of each sample', () => {
  const opened = openText(file('foreign/miles-dashboard-columns.jsonl'), source)
  expect(opened).toMatchObject({ ok: true, format: { name: 'miles-columns' } })
  expect(
    opened.ok &&
      opened.trajectories.map((trajectory) => ({
        sample_index: Number(trajectory.title?.split(' ')[1]),
        response_length: responseLength(trajectory),
        tokens: ids(trajectory),
        rollout_log_probs: logprobs(trajectory).slice(-responseLength(trajectory)),
      })),
  ).toEqual(golden.columns)
  expect(opened.ok && opened.trajectories[0]?.provenance).toMatchObject({ missing: expect.arrayContaining(['mask']) })
})

const sample = { tokens: [1, 2, 3, 4], response_length: 3, loss_mask: [1, 0, 1], rollout_log_probs: [-1, 0, -2] }

describe('A train dump', () => {
  const whole = { ...sample, sample_index: 3, group_index: 1, log_probs: [-1.5, 0, -2.5], reward: 1, truncated: true }

  test('of slime has a trajectory for each of its samples, which may be alone in a file', () => {
    const [read] = trajectoriesOf(trainDump, { format_version: 2, samples: [whole] })
    expect(trajectoriesOf(trainDump, whole)).toEqual([read])
    expect(read).toMatchObject({
      group: { id: '1', index: 3 },
      reward: 1,
      outcome: { reason: 'truncated' },
      segments: [
        { kind: 'prompt', ids: [1] },
        { kind: 'response', ids: [2], logprobs: [-1], columns: { trainerLogprobs: [-1.5] } },
        { kind: 'prompt', ids: [3] },
        { kind: 'response', ids: [4], logprobs: [-2], columns: { trainerLogprobs: [-2.5] } },
      ],
    })
    // slime writes 0.0 where nothing was computed.
    expect(read?.segments[2]).not.toHaveProperty('columns')
    expect(read?.provenance).toMatchObject({
      lacked: expect.arrayContaining(['logprobs of 1 tokens that are not trained: the file has 0.0 there']),
    })
  })

  test('without response_length and mask takes the length of its columns, and the mask is missing', () => {
    const [read] = trajectoriesOf(trainDump, { tokens: [1, 2, 3], log_probs: [-1, -2] })
    expect(read?.segments.map((segment) => segment.ids)).toEqual([[1], [2, 3]])
    expect(read?.provenance).toMatchObject({ missing: expect.arrayContaining(['logprobs', 'mask']) })
    const [, bare] = trajectoriesOf(trainDump, { samples: [whole, { tokens: [1, 2] }] })
    expect(bare?.segments).toMatchObject([{ kind: 'response', ids: [1, 2] }])
  })

  test.each([
    [{ ...whole, log_probs: [-1] }, 'log_probs: expected 3 entries (one for each token of the response), found 1'],
    [{ ...whole, log_probs: [-1, 'x', -1] }, 'log_probs[1]: expected a number, true, false or null, found "x"'],
    [{ ...whole, loss_mask: [1] }, 'loss_mask: expected 3 entries'],
    [{ ...whole, response_length: 5 }, 'loss_mask: expected at most 4 entries (one for each token), found 5'],
    [{ ...whole, tokens: [1, -2] }, 'tokens[1]: expected at least 0, found -2'],
  ])('with a wrong column is refused with its path', (value, message) => {
    expect(() => trajectoriesOf(trainDump, value)).toThrow(message)
    expect(() => trajectoriesOf(trainDump, { samples: [whole, value] })).toThrow(`samples[1].${message}`)
  })

  test('with columns for another number of samples is refused', () => {
    const rollout_data = { tokens: [[1, 2]], response_lengths: [1], log_probs: [[-1], [-2]] }
    expect(() => trajectoriesOf(trainDump, { rollout_data })).toThrow(
      'rollout_data.log_probs: expected 1 entries (one for each sample), found 2 entries',
    )
    expect(() => trajectoriesOf(trainDump, { rollout_data: { ...rollout_data, log_probs: [[-1, -2]] } })).toThrow(
      'rollout_data[0].log_probs: expected 1 entries (one for each token of the response), found 2',
    )
  })
})

test.each([
  [{ ...sample, sample_index: 0, total_length: 5 }, 'total_length: expected 4 (the number of ids), found 5'],
  [{ ...sample, sample_index: -1, total_length: 4 }, 'sample_index: expected at least 0, found -1'],
])('A row of miles’ dashboard columns with an error is refused with its path', (row, message) => {
  expect(() => trajectoriesOf(milesColumns, row)).toThrow(message)
})
