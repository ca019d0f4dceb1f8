import { describe, expect, test } from 'vitest'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { estimatedTokens } from './cost.ts'
import { valueCurve } from './curve.ts'
import { type ChosenPositions, choosePositions } from './positions.ts'
import { type Resample, resampleSpread } from './resamples.ts'

/** Two prompt tokens, five sampled ones, one token of a tool result, and three sampled ones. */
const trajectory: Trajectory = {
  ...sampleTrajectory,
  segments: [
    { kind: 'prompt', ids: [1, 2], messages: [{ role: 'user', content: 'q' }] },
    {
      kind: 'response',
      ids: [3, 4, 5, 6, 7],
      logprobs: [-0.1, -2, null, -0.3, -2],
      mask: [1, 1, 1, 0, 1],
      thinks: [],
      toolCalls: [],
    },
    { kind: 'prompt', ids: [8], messages: [] },
    { kind: 'response', ids: [9, 10, 11], logprobs: [-0.2, -3, -0.1], thinks: [], toolCalls: [] },
  ],
}
const chosen = (choice: ChosenPositions) => (choice.ok ? choice.positions : choice.why.code)

describe('choosePositions', () => {
  test('takes every k-th trained token of a range', () => {
    expect(chosen(choosePositions(trajectory, { every: 1 }))).toEqual([2, 3, 4, 6, 8, 9, 10])
    expect(chosen(choosePositions(trajectory, { every: 3 }))).toEqual([2, 6, 10])
    expect(chosen(choosePositions(trajectory, { every: 2, from: 3, to: 9 }))).toEqual([3, 6])
  })

  test('takes the most surprising trained tokens, of equal ones the first', () => {
    expect(chosen(choosePositions(trajectory, { surprising: 2 }))).toEqual([3, 9])
    expect(chosen(choosePositions(trajectory, { surprising: 1, to: 8 }))).toEqual([3])
    expect(chosen(choosePositions(trajectory, { surprising: 64 }))).toEqual([2, 3, 6, 8, 9, 10])
  })

  test('takes explicit positions once each, in their order', () => {
    expect(chosen(choosePositions(trajectory, { tokens: [9, 2, 9] }))).toEqual([2, 9])
  })

  test('says why there are no positions, and what to choose instead', () => {
    expect(choosePositions(trajectory, { tokens: [11] })).toMatchObject({
      ok: false,
      why: { code: 'OUTSIDE', detail: 'there is no token 11: the trajectory has 11' },
    })
    expect(choosePositions(trajectory, { tokens: [7] })).toMatchObject({
      why: { code: 'NOT_SAMPLED', hint: 'Choose a sampled token: the next one is 8.' },
    })
    const asked = { ...trajectory, segments: trajectory.segments.slice(0, 1) }
    expect(choosePositions(asked, { tokens: [1] })).toMatchObject({
      why: { hint: 'Choose a sampled token: none follows.' },
    })
    expect(choosePositions(trajectory, { every: 1, from: 7, to: 8 })).toMatchObject({
      why: { code: 'NO_TRAINED_TOKENS', detail: 'no trained token is in the range from 7 to 8' },
    })
    expect(choosePositions(asked, { every: 1 })).toMatchObject({
      why: { detail: 'the trajectory has no trained tokens' },
    })
    const unscored = trajectory.segments.map(({ logprobs: _, ...segment }) => segment as Trajectory['segments'][number])
    expect(chosen(choosePositions({ ...trajectory, segments: unscored }, { surprising: 2 }))).toBe('NO_LOGPROBS')
    const long = { kind: 'response', ids: Array<number>(65).fill(3), thinks: [], toolCalls: [] } as const
    expect(choosePositions({ ...trajectory, segments: [long] }, { every: 1 })).toMatchObject({
      why: { code: 'TOO_MANY_POSITIONS', detail: '65 positions are chosen, and an estimate has at most 64' },
    })
  })
})

test('The expected tokens are those that the model sampled from each position on, within the limits', () => {
  expect(estimatedTokens(trajectory, [2], 1)).toBe(8)
  expect(estimatedTokens(trajectory, [3, 9], 8)).toBe(8 * (7 + 2))
  expect(estimatedTokens(trajectory, [2], 2, { maxNewTokens: 2 })).toBe(2 * (2 + 2))
  expect(estimatedTokens(trajectory, [2], 1, { maxTokens: 6 })).toBe(4)
  expect(estimatedTokens(trajectory, [9], 1, { maxTokens: 6 })).toBe(0)
})

describe('valueCurve', () => {
  const all = (reward: number) => Array<number>(8).fill(reward)

  test('finds the largest significant drop, and corrects the intervals for all positions', () => {
    const positions = [
      { at: 2, rewards: all(1) },
      { at: 3, rewards: all(1) },
      { at: 6, rewards: all(0) },
      { at: 9, rewards: all(0) },
    ]
    const { means, cliff, reading } = valueCurve(positions, true)
    expect(reading).toBe('cliff')
    expect(cliff).toEqual({
      from: 3,
      to: 6,
      before: 1,
      after: 0,
      drop: 1,
      p: expect.closeTo(3 / 12_870, 12),
      test: 'fisher',
    })
    expect(means[0]?.low).toBeCloseTo((0.05 / 4 / 2) ** (1 / 8), 9)
  })

  test('skips positions without rewards, and finds no cliff in a rise or a small drop', () => {
    const risen = valueCurve(
      [
        { at: 2, rewards: all(0) },
        { at: 3, rewards: [] },
        { at: 6, rewards: all(1) },
        { at: 7, rewards: [1, 1, 1, 1, 1, 1, 0, 0] },
      ],
      true,
    )
    expect(risen).toMatchObject({ cliff: null, reading: 'exploratory' })
    expect(risen.means[1]).toBe(null)
  })

  test('concludes nothing from one position or from an estimate that is not complete', () => {
    expect(valueCurve([{ at: 2, rewards: all(1) }], true).reading).toBe('single')
    const half = valueCurve(
      [
        { at: 2, rewards: all(1) },
        { at: 3, rewards: all(0) },
      ],
      false,
    )
    expect(half).toMatchObject({ cliff: null, reading: 'incomplete' })
  })
})

describe('resampleSpread', () => {
  const resample = (answer: string | null, changes: Partial<Resample> = {}): Resample => ({
    reward: 1,
    answer,
    sampledTokens: 10,
    toolCalls: 0,
    failedCalls: 0,
    ...changes,
  })

  test('counts distinct answers, lengths and tool calls', () => {
    const spread = resampleSpread([
      resample('12', { reward: 0, sampledTokens: 4 }),
      resample('13', { toolCalls: 2, failedCalls: 1 }),
      resample('13'),
      resample(null, { reward: null, sampledTokens: 16 }),
    ])
    expect(spread).toEqual({
      answers: [
        { text: '13', count: 2, reward: 1 },
        { text: '12', count: 1, reward: 0 },
        { text: null, count: 1, reward: null },
      ],
      distinctAnswers: 3,
      sampledTokens: { min: 4, mean: 10, max: 16 },
      toolCalls: { mean: 0.5, withCalls: 1, failed: 1 },
    })
    expect(resampleSpread([])).toBe(null)
  })

  test('lists at most ten answers, and the beginning of long ones', () => {
    const spread = resampleSpread(Array.from({ length: 12 }, (_, index) => resample('😀'.repeat(300 + index))))
    expect(spread).toMatchObject({ distinctAnswers: 12 })
    expect(spread?.answers).toHaveLength(10)
    expect(spread?.answers[0]?.text).toBe(`${'😀'.repeat(200)} …`)
  })
})
