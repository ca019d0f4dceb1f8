import { expect, test } from 'vitest'
import type { SessionCallRow } from '#lib/api/sessions/session.ts'
import { sessionRow, summaryOfCalls } from './session-row.ts'

const node = {
  node: 0,
  parent: null,
  choice: 0,
  status: 'complete',
  trajectory: 't',
  segments: 2,
  start: 0,
  prompt: 30,
  reply: 10,
  text: '',
  finish: 'stop',
  malformedCalls: 0,
} as const

const call: Omit<SessionCallRow, 'sequence'> = {
  startedAt: '2026-01-01T00:00:10.000Z',
  elapsedMs: 500,
  method: 'POST',
  path: '/v1/messages',
  protocol: 'messages',
  client: 'agent',
  model: 'm',
  isStreamed: false,
  status: 200,
  error: null,
  attached: null,
  messages: 1,
  added: 1,
  accepted: [],
  promptTokens: 30,
  cachedTokens: 0,
  completionTokens: 10,
  drift: null,
  nodes: [node],
}

const calls = [
  call,
  {
    ...call,
    elapsedMs: 1500,
    promptTokens: 50,
    cachedTokens: 40,
    completionTokens: 20,
    drift: 3,
    nodes: [{ ...node, node: 1, parent: 0, start: 40, finish: 'length', malformedCalls: 2 }],
  },
  // A call without a reply counts as failed, and neither for the cache nor for the speed.
  {
    ...call,
    startedAt: '2026-01-01T00:01:00.000Z',
    protocol: null,
    model: null,
    status: 502,
    promptTokens: 1000,
    completionTokens: 0,
    nodes: [{ ...node, node: 2, parent: 1, status: 'failed' as const, prompt: 0, reply: 0 }],
  },
]

const source = { id: 'a', createdAt: '2026-01-01T00:00:00.000Z', settings: {}, reward: null, running: 0 }
const at = (time: string) => Date.parse(`2026-01-01T${time}Z`)

test('The row of a session adds up its calls', () => {
  expect(sessionRow(source, summaryOfCalls(calls), new Set(['t']), at('00:01:00'))).toEqual({
    id: 'a',
    createdAt: '2026-01-01T00:00:00.000Z',
    mode: 'tito',
    server: null,
    state: 'live',
    running: 0,
    client: 'agent',
    protocols: ['messages'],
    model: null,
    lastCallAt: '2026-01-01T00:01:00.000Z',
    calls: 3,
    failedCalls: 1,
    tokens: 80,
    // A failed call adds nothing to the path that it should continue.
    leaves: 1,
    drifts: 1,
    malformedCalls: 2,
    truncated: 1,
    cachedShare: 0.5,
    tokensPerSecond: 15,
    reward: null,
    group: null,
    tags: [],
  })
})

test('The row of a session counts the leaves that are in the library, also one of which a later prompt kept only a part', () => {
  const next = (number: number, start: number, trajectory: string) => ({
    ...call,
    nodes: [{ ...node, node: number, parent: 0, start, trajectory }],
  })
  const leaves = (list: typeof calls, ...stored: readonly string[]) =>
    sessionRow(source, summaryOfCalls(list), new Set(stored), 0).leaves
  const forked = [call, next(1, 40, 't'), next(2, 40, 'u')]
  expect([leaves(forked, 't', 'u'), leaves(forked, 'u'), leaves(forked)]).toEqual([2, 1, 0])
  expect(leaves([call, next(1, 39, 'u')], 't', 'u')).toBe(2)
})

test('A session is live until two minutes after the end of its last call, or of its creation, and while a call is answered', () => {
  const state = (list: typeof calls, time: string, running = 0) =>
    sessionRow({ ...source, running }, summaryOfCalls(list), new Set(), at(time)).state
  expect([state(calls, '00:03:00.400'), state(calls, '00:03:00.600')]).toEqual(['live', 'idle'])
  expect([state([], '00:01:59.900'), state([], '00:02:00.100')]).toEqual(['live', 'idle'])
  expect(state(calls, '09:00:00', 1)).toBe('live')
})
