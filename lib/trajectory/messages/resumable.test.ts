import { expect, test } from 'vitest'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { Outcome, ResponseSegment, Trajectory } from '../format/trajectory.ts'
import { statistics } from '../tokens/statistics.ts'
import { responseCalls } from './response-calls.ts'
import { resumeObstacle } from './resumable.ts'

const request = { server: 's', samplingParams: {}, inputLength: 3, inputHash: '', streamed: true } as const
const response: ResponseSegment = {
  kind: 'response',
  ids: [3, 4, 7],
  thinks: [],
  toolCalls: [],
  request,
  finish: { kind: 'cancelled' },
}
const cancelled: Outcome = { kind: 'ended', reason: 'cancelled' }
const ending = (last: Trajectory['segments'][number], outcome: Outcome = cancelled, sampling?: object) =>
  resumeObstacle({ segments: [last], outcome }, sampling)

test.each(['cancelled', 'length', 'abort'] as const)('resumeObstacle allows a response that ended by %s', (kind) => {
  expect(ending({ ...response, finish: { kind } })).toBeUndefined()
})

test('resumeObstacle allows a response with a loss mask, which further tokens extend', () => {
  expect(ending({ ...response, mask: [1, 1, 0] })).toBeUndefined()
})

test('resumeObstacle allows a broken response of a failed run', () => {
  const finish = { kind: 'cut', code: 'UPSTREAM_TRUNCATED', message: 'm' } as const
  expect(ending({ ...response, finish }, { kind: 'failed', code: 'X', message: 'm' })).toBeUndefined()
})

test.each<[string, Partial<ResponseSegment>, RegExp]>([
  ['the model ended', { finish: { kind: 'stop' } }, /ended the last/],
  ['a server ended for an unknown reason', { finish: { kind: 'unknown', raw: 'x' } }, /ended/],
  ['has no tokens', { ids: [] }, /does not end with a response/],
  ['came over a chat endpoint', { request: { ...request, endpoint: 'chat' } }, /takes messages/],
  ['has columns', { columns: { entropy: [1, 1, 0] } }, /has columns/],
  ['is bound by a regex', { request: { ...request, samplingParams: { regex: 'a+' } } }, /^regex constrains/],
  [
    'was resumed with a schema',
    { resumed: [{ at: 1, request: { ...request, samplingParams: { json_schema: '{}' } } }] },
    /^json_schema constrains/,
  ],
])('a response that %s cannot be resumed', (_, change, why) => {
  expect(ending({ ...response, ...change })).toMatch(why)
})

test('resumeObstacle allows a response whose request is unknown', () => {
  const { request: _, ...bare } = response
  expect(ending(bare)).toBeUndefined()
})

test('resumeObstacle refuses after a prompt, during a run, and with a grammar', () => {
  expect(ending({ kind: 'prompt', ids: [1], messages: [] })).toMatch(/does not end/)
  expect(ending(response, { kind: 'running' })).toMatch(/not ended/)
  expect(ending(response, cancelled, { ebnf: 'root ::= "a"' })).toMatch(/^ebnf constrains/)
})

test('responseCalls gives each call its tokens, and the totals include all calls', () => {
  const timing = { startedAt: '', elapsedMs: 10 }
  const usage = { promptTokens: 3, cachedTokens: 2 }
  const resumed: ResponseSegment = {
    ...response,
    timing,
    usage,
    resumed: [
      { at: 1, request: { ...request, samplingParams: { temperature: 0.5 } }, timing, usage },
      { at: 2, request },
    ],
  }
  expect(responseCalls(resumed).map(({ start, end }) => [start, end])).toEqual([
    [0, 1],
    [1, 2],
    [2, 3],
  ])
  const { request: _, ...bare } = response
  expect(responseCalls(bare)).toEqual([{ start: 0, end: 3 }])
  expect(statistics({ ...sampleTrajectory, segments: [resumed] })).toMatchObject({
    generationMs: 20,
    promptTokensRead: 6,
    cachedTokens: 4,
    temperatures: [0.5],
  })
})
