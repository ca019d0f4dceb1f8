import { expect, test } from 'vitest'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import type { ResponseSegment, Trajectory } from '../format/trajectory.ts'
import { tokenAt } from '../tokens/tokens.ts'
import { contextTokens, lastServer, requestAt, tokensRead } from './response-calls.ts'

const request = (server: string): NonNullable<ResponseSegment['request']> => ({
  server,
  samplingParams: {},
  inputLength: 1,
  inputHash: '',
  streamed: false,
})
const trajectory: Trajectory = {
  ...sampleTrajectory,
  segments: [
    { kind: 'prompt', ids: [1], messages: [] },
    {
      kind: 'response',
      ids: [2, 3, 4],
      thinks: [],
      toolCalls: [],
      request: request('first'),
      resumed: [{ at: 2, request: request('second') }],
    },
    { kind: 'response', ids: [5], thinks: [], toolCalls: [] },
    { kind: 'prompt', ids: [6], messages: [] },
  ],
}

test('requestAt returns the call that sampled a token, or that answered its prompt', () => {
  const servers = [0, 1, 2, 3, 4, 5].map((index) => {
    const token = tokenAt(trajectory, index)
    return token && requestAt(trajectory, token)?.server
  })
  expect(servers).toEqual(['first', 'first', 'first', 'second', undefined, undefined])
})

test('requestAt returns the call that answered a prompt, also if it sampled no token', () => {
  const reply = { kind: 'response', ids: [], thinks: [], toolCalls: [], request: request('first') } as const
  const answered: Trajectory = { ...trajectory, segments: [{ kind: 'prompt', ids: [1], messages: [] }, reply] }
  const token = tokenAt(answered, 0) ?? expect.fail('the prompt has a token')
  expect(requestAt(answered, token)?.server).toBe('first')
})

test('tokensRead counts the tokens that the server reports, and at least those that were sent', () => {
  const sent = { inputLength: 10 }
  expect([undefined, {}, { promptTokens: 0 }, { promptTokens: 74 }].map((usage) => tokensRead(sent, usage))).toEqual([
    10, 10, 10, 74,
  ])
})

test('The last server is that of the last response, and undefined without a response or its request', () => {
  const { segments } = sampleTrajectory
  const response = segments.findLast((segment) => segment.kind === 'response') ?? expect.fail('there is a response')
  const request = { ...response.request, server: 'http://b' } as ResponseSegment['request']
  expect(lastServer({ segments: [...segments, { ...response, request }] })).toBe('http://b')
  const { request: _, ...imported } = response
  expect(lastServer({ segments: [...segments, imported] })).toBeUndefined()
  expect(lastServer({ segments: [] })).toBeUndefined()
  expect(lastServer({ segments: trajectory.segments.slice(0, 2) })).toBe('second')
})

test('The tokens in the context include those that the model read for images, as the last reply reports', () => {
  const reply = (usage?: NonNullable<ResponseSegment['usage']>): Trajectory => ({
    ...trajectory,
    segments: [
      { kind: 'prompt', ids: [1], messages: [] },
      {
        kind: 'response',
        ids: [2, 3, 4],
        thinks: [],
        toolCalls: [],
        request: { ...request('a'), images: { count: 1 } },
        ...(usage && { usage }),
      },
    ],
  })
  expect(contextTokens(trajectory)).toBe(6)
  expect(contextTokens(reply({ promptTokens: 50 }))).toBe(4 + 49)
  expect(contextTokens(reply({}))).toBe(4)
  expect(contextTokens(reply())).toBe(4)
})
