// @vitest-environment jsdom
import { QueryClient } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'
import { sessionOptions } from './sessions.ts'

const session = {
  id: 'a/b',
  createdAt: '2026-01-01T00:00:00.000Z',
  mode: 'tito',
  server: null,
  state: 'live',
  running: 0,
  client: null,
  protocols: [],
  model: null,
  lastCallAt: null,
  calls: 0,
  failedCalls: 0,
  tokens: 0,
  leaves: 0,
  drifts: 0,
  malformedCalls: 0,
  truncated: 0,
  cachedShare: null,
  tokensPerSecond: null,
  reward: null,
  group: null,
  tags: [],
}
const call = (sequence: number) => ({
  sequence,
  startedAt: '2026-01-01T00:00:00.000Z',
  elapsedMs: 1,
  method: 'POST',
  path: '/v1/chat/completions',
  protocol: 'chat',
  client: null,
  model: null,
  isStreamed: false,
  status: 200,
  error: null,
  attached: null,
  messages: 1,
  added: 1,
  accepted: [],
  promptTokens: 0,
  cachedTokens: 0,
  completionTokens: 0,
  drift: null,
  nodes: [],
})

test('A poll of a session requests the calls after those that it has, and replaces all calls of another session with the id', async () => {
  const answers = [
    { session, calls: [] },
    { session, calls: [call(1), call(2)], revision: 'one-2' },
    { session, calls: [call(3)], after: 2, revision: 'one-3' },
    { session, calls: [], after: 3, revision: 'one-3' },
    { session, calls: [call(1)], revision: 'other-1' },
  ]
  const addresses: string[] = []
  vi.spyOn(globalThis, 'fetch').mockImplementation(async (address) => {
    addresses.push(String(address))
    return Response.json(answers.shift())
  })
  const client = new QueryClient()
  const sequences: number[][] = []
  for (let poll = 0; poll < 5; poll++) {
    const { calls } = await client.fetchQuery({ ...sessionOptions('a/b'), staleTime: 0 })
    sequences.push(calls.map(({ sequence }) => sequence))
  }
  expect(sequences).toEqual([[], [1, 2], [1, 2, 3], [1, 2, 3], [1]])
  const address = '/api/sessions/a%2Fb'
  expect(addresses).toEqual([
    address,
    address,
    `${address}?known=one-2`,
    `${address}?known=one-3`,
    `${address}?known=one-3`,
  ])
})
