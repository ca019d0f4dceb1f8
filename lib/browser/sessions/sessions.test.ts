// @vitest-environment jsdom
import { QueryClient } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'
import { testCall, testSession } from '#testing/sessions.ts'
import { sessionOptions } from './sessions.ts'

const session = { ...testSession, id: 'a/b' }
const call = (sequence: number) => testCall(sequence, { kind: 'continued' })

test('A poll of a session requests the calls after those that it has, and replaces all calls of another session with the id', async () => {
  const answers = [
    { session, running: [], calls: [] },
    { session, running: [], calls: [call(1), call(2)], revision: 'one-2' },
    { session, running: [], calls: [call(3)], after: 2, revision: 'one-3' },
    { session, running: [], calls: [], after: 3, revision: 'one-3' },
    { session, running: [], calls: [call(1)], revision: 'other-1' },
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
