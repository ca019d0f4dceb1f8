import { expect, test } from 'vitest'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { pack } from '#lib/trajectory/tokens/packed.ts'
import { ids, logprobs } from '#lib/trajectory/tokens/tokens.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { rangesToVerify } from './plan.ts'
import { verification } from './verification.ts'

/** Returns the sample with these sampling parameters in its first response. */
const sampledWith = (samplingParams: Readonly<Record<string, unknown>> | undefined): Trajectory => ({
  ...sample,
  segments: sample.segments.map((segment, index) => {
    if (segment.kind === 'prompt' || index !== 1) return segment
    const { request, ...rest } = segment
    return (samplingParams ? { ...rest, request: { ...request, samplingParams } } : rest) as ResponseSegment
  }),
})
const recorded = (trajectory: Trajectory) => Float64Array.from(logprobs(trajectory), (value) => value ?? Number.NaN)

test('the verification scores prompts and responses with recorded logprobs, and joins adjacent ones to one range', () => {
  expect(rangesToVerify(sample)).toEqual([{ start: 0, end: 8 }])
  const [prompt, response] = sample.segments as [Trajectory['segments'][number], ResponseSegment]
  const { logprobs: _, ...unasked } = prompt
  const apart = { ...sample, segments: [unasked, response, unasked, response] as Trajectory['segments'] }
  expect(rangesToVerify(pack(apart).trajectory)).toEqual([
    { start: 3, end: 8 },
    { start: 11, end: 16 },
  ])
  expect(rangesToVerify({ ...sample, segments: [] })).toEqual([])
})

test('all tokens are scored if the routed experts of all are compared', () => {
  const [prompt, response] = sample.segments as [Trajectory['segments'][number], ResponseSegment]
  const { logprobs: _, ...unasked } = prompt
  const apart = { ...sample, segments: [unasked, response, unasked, response] as Trajectory['segments'] }
  expect(rangesToVerify(apart, true)).toEqual([{ start: 0, end: 16 }])
})

test('a range that is verified names the adapter of its response', () => {
  const adapted = {
    ...sample,
    segments: sample.segments.map((segment) =>
      segment.kind === 'response' && segment.request
        ? { ...segment, request: { ...segment.request, adapter: 'math' } }
        : segment,
    ),
  }
  expect(rangesToVerify(adapted).map(({ adapter }) => adapter)).toContain('math')
  expect(rangesToVerify(sample).some((range) => 'adapter' in range)).toBe(false)
})

test('scores equal to the recorded ones have no noise', () => {
  const trajectory = sampledWith({ temperature: 1 })
  expect(verification(pack(trajectory).trajectory, recorded(trajectory))).toEqual({
    sampled: { tokens: 4, mean: 0, p99: 0, max: 0 },
    prefill: { tokens: 2, mean: 0, p99: 0, max: 0 },
    tempered: undefined,
    outliers: [],
    // One token of the first response has no logprob, and neither has the trained token of the second.
    unknown: 2,
  })
})

test('the noise floor is the mean difference of trained tokens, and outliers are named', () => {
  const trajectory = sampledWith({ temperature: 0 })
  const scores = recorded(trajectory).map((value, index) => value + (index === 6 ? -2 : 0.001))
  const { sampled, outliers } = verification(trajectory, scores)
  expect(sampled?.mean).toBeCloseTo((3 * 0.001 + 2) / 4)
  expect(sampled?.max).toBeCloseTo(2)
  expect(outliers).toEqual([{ index: 6, recorded: -1, scored: -3 }])
})

test('tempered logprobs are counted separately from the noise floor', () => {
  const { sampled, tempered, outliers, prefill } = verification(sample, recorded(sample))
  expect([sampled, outliers, prefill?.tokens]).toEqual([undefined, [], 2])
  expect(tempered).toMatchObject({ reasons: ['sampled at temperature 0.7'], difference: { tokens: 4 } })
})

test('the calls of a resumed response are judged one by one', () => {
  const trajectory = sampledWith({ temperature: 1 })
  const segments = trajectory.segments.map((segment, index) =>
    segment.kind === 'response' && segment.request && index === 1
      ? { ...segment, resumed: [{ at: 3, request: { ...segment.request, samplingParams: { temperature: 0.7 } } }] }
      : segment,
  )
  const { sampled, tempered } = verification({ ...trajectory, segments }, recorded(trajectory))
  expect([sampled?.tokens, tempered?.difference.tokens]).toEqual([2, 2])
  expect(tempered?.reasons).toEqual(['sampled at temperature 0.7'])
})

test('the verification ignores tokens that were not scored', () => {
  const scores = new Float64Array(ids(sample).length).fill(Number.NaN)
  expect(verification(sample, scores)).toMatchObject({ sampled: undefined, prefill: undefined, tempered: undefined })
})
