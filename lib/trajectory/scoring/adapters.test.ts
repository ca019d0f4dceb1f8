import { expect, test } from 'vitest'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { Trajectory } from '../format/trajectory.ts'
import { adaptersOf, lastAdapter, withAdapters } from './adapters.ts'

const REQUEST = { server: 's', samplingParams: {}, inputLength: 0, inputHash: '', streamed: false }

/** Returns two prompts and two responses of two tokens each, whose requests name these adapters. */
const sampledWith = (...adapters: readonly (string | undefined)[]): Pick<Trajectory, 'segments'> => ({
  segments: adapters.flatMap((adapter) => [
    { kind: 'prompt' as const, ids: [1, 2], messages: [] },
    {
      kind: 'response' as const,
      ids: [3, 4],
      thinks: [],
      toolCalls: [],
      request: { ...REQUEST, ...(adapter !== undefined && { adapter }) },
    },
  ]),
})

test('ranges are cut where the adapter changes, and a prompt belongs to the adapter of the response after it', () => {
  const whole = [{ start: 0, end: 8 }]
  expect(withAdapters(sampledWith('math', 'code'), whole)).toEqual([
    { start: 0, end: 4, adapter: 'math' },
    { start: 4, end: 8, adapter: 'code' },
  ])
  expect(withAdapters(sampledWith(undefined, 'math'), [{ start: 3, end: 6 }])).toEqual([
    { start: 3, end: 4 },
    { start: 4, end: 6, adapter: 'math' },
  ])
  expect(withAdapters(sampledWith('math', 'math'), whole)).toEqual([{ start: 0, end: 8, adapter: 'math' }])
})

test('the calls of a resumed response have their own adapters', () => {
  const { segments } = sampledWith('math')
  const resumed = {
    segments: segments.map((segment) =>
      segment.kind === 'response'
        ? { ...segment, resumed: [{ at: 1, request: { ...REQUEST, adapter: 'code' } }] }
        : segment,
    ),
  }
  expect(withAdapters(resumed, [{ start: 0, end: 4 }])).toEqual([
    { start: 0, end: 3, adapter: 'math' },
    { start: 3, end: 4, adapter: 'code' },
  ])
  expect(adaptersOf(resumed)).toEqual(['math', 'code'])
  expect(lastAdapter(resumed)).toBe('code')
})

test('ranges that were apart stay apart, and those without an adapter have none', () => {
  const apart = [
    { start: 1, end: 4 },
    { start: 4, end: 8 },
  ]
  expect(withAdapters(sampledWith(undefined, undefined), apart)).toEqual(apart)
  expect(withAdapters({ segments: [] }, [])).toEqual([])
})

test('the last adapter is that of the last recorded request, and unknown if none is recorded', () => {
  expect(lastAdapter(sampledWith('math', 'code'))).toBe('code')
  expect(lastAdapter(sampledWith('math', undefined))).toBeUndefined()
  expect(lastAdapter({ segments: [] })).toBeNull()
  const segments = sample.segments.map((segment) => {
    if (segment.kind === 'prompt') return segment
    const { request: _, ...rest } = segment
    return rest
  }) as Trajectory['segments']
  expect(lastAdapter({ segments })).toBeNull()
})

test('the adapters of a trajectory are named once each, and responses without a record of their request have none', () => {
  expect(adaptersOf(sampledWith('math', undefined, 'code', 'math'))).toEqual(['math', 'code'])
  const unrecorded = sampledWith('math').segments.map((segment) => ({ ...segment, request: undefined }))
  expect(adaptersOf({ segments: unrecorded as Trajectory['segments'] })).toEqual([])
})
