import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import {
  isSampledToken,
  type ValueContext,
  type ValueDraft,
  valueDraftFor,
  valueInput,
  withKnownPositions,
} from './value-draft.ts'
import { rangeText } from './value-text.ts'

const request = { server: 's', inputLength: 2, inputHash: '', streamed: true } as const
const trajectoryAt = (temperature: number): Trajectory => ({
  ...sampleTrajectory,
  segments: [
    { kind: 'prompt', ids: [1, 2], messages: [{ role: 'user', content: 'q' }] },
    {
      kind: 'response',
      ids: Array<number>(40).fill(3),
      logprobs: Array.from({ length: 40 }, (_, index) => -index),
      thinks: [],
      toolCalls: [],
      request: { ...request, samplingParams: { temperature, top_p: 0.9 } },
    },
  ],
})
const trajectory = trajectoryAt(1)
const rule = { kind: 'number', expected: 425 } as const
const nothing: ValueContext = { token: undefined, cliff: undefined }
const inputOf = (changes: Partial<ValueDraft>, context = nothing) =>
  valueInput({ ...valueDraftFor(trajectory, rule), ...changes }, trajectory, context)
const bodyOf = (...input: Parameters<typeof inputOf>) => {
  const read = inputOf(...input)
  return read.ok ? read.body : read
}

describe('valueInput', () => {
  test('requests the most surprising tokens, with the cost of all samples', () => {
    expect(inputOf({ count: '2', resamples: '4' })).toEqual({
      ok: true,
      // The last two of 40 tokens: two are left at the first of them, and one at the second.
      positions: 2,
      tokens: 4 * (2 + 1),
      body: { range: { surprising: 2 }, n: 4, reward: rule },
    })
  })

  test('requests every k-th token, the selected token, or the tokens of a drop', () => {
    const cliff = { from: 4, to: 36, before: 1, after: 0, drop: 1, p: 0.01, test: 'fisher' } as const
    expect(bodyOf({ kind: 'every', count: '20' })).toMatchObject({ range: { every: 20 } })
    expect(bodyOf({ kind: 'token' }, { ...nothing, token: 7 })).toMatchObject({ range: { tokens: [7] } })
    expect(bodyOf({ kind: 'drop' }, { ...nothing, cliff })).toMatchObject({ range: { every: 2, from: 4, to: 37 } })
  })

  test('names the server that shall sample, and no server for the one of the trajectory', () => {
    expect(bodyOf({ server: 'sglang-b' })).toMatchObject({ server: 'sglang-b' })
    expect(bodyOf({})).not.toHaveProperty('server')
  })

  test('changes only the temperature of the recorded parameters, and suggests one for a greedy run', () => {
    expect(bodyOf({ temperature: '0.7' })).toMatchObject({ sampling: { temperature: 0.7, top_p: 0.9 } })
    expect(valueDraftFor(trajectoryAt(0), null)).toMatchObject({ temperature: '1', reward: { kind: 'number' } })
  })

  test.each<[Partial<ValueDraft>, string | undefined, RegExp]>([
    [{ count: '0' }, 'count', /from 1 to 64/],
    [{ count: '65' }, 'count', /from 1 to 64/],
    [{ kind: 'every', count: 'x' }, 'count', /from 1$/],
    [{ resamples: '1' }, 'resamples', /from 2 to 64/],
    [{ temperature: '0' }, 'temperature', /above 0/],
    [{ reward: { ...valueDraftFor(trajectory, null).reward, kind: 'none' } }, 'reward', /needs a rule/],
    [{ reward: valueDraftFor(trajectory, null).reward }, 'reward', /needs a number/],
    [{ kind: 'token' }, undefined, /Select a token/],
    [{ kind: 'drop' }, undefined, /Select a token/],
  ])('names the wrong field of %j', (changes, field, why) => {
    expect(inputOf(changes)).toEqual({ ok: false, field, why: expect.stringMatching(why) })
  })

  test('says why no position can be chosen', () => {
    const [prompt] = trajectory.segments
    const asked = { ...trajectory, segments: prompt ? [prompt] : [] }
    expect(valueInput(valueDraftFor(asked, rule), asked, nothing)).toMatchObject({
      field: undefined,
      why: 'The trajectory has no trained tokens. Choose a range with sampled tokens, or explicit positions.',
    })
  })
})

test('withKnownPositions replaces a drop that is no longer shown by the most surprising tokens', () => {
  const cliff = { from: 4, to: 36, before: 1, after: 0, drop: 1, p: 0.01, test: 'fisher' } as const
  const draft = { ...valueDraftFor(trajectory, rule), kind: 'drop', count: '20' } as const
  expect(withKnownPositions(draft, { ...nothing, cliff })).toBe(draft)
  expect(withKnownPositions(draft, nothing)).toEqual({ ...draft, kind: 'surprising', count: '10' })
})

test('isSampledToken distinguishes sampled tokens from those of prompts', () => {
  expect([0, 1, 2, 41, 42].map((index) => isSampledToken(trajectory, index))).toEqual([false, false, true, true, false])
})

test('rangeText says how positions were chosen', () => {
  expect(
    [
      { tokens: [1234] },
      { tokens: [1, 2] },
      { surprising: 10 },
      { every: 1 },
      { every: 20, from: 100 },
      { every: 2, from: 4, to: 37 },
    ].map(rangeText),
  ).toEqual([
    'token 1,234',
    '2 tokens',
    '10 most surprising tokens',
    'trained tokens',
    'trained tokens of 100–end, one in 20',
    'trained tokens of 4–36, one in 2',
  ])
})
