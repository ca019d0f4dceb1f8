import { QueryClient } from '@tanstack/react-query'
import { beforeEach, expect, test, vi } from 'vitest'
import { groupForestOptions } from './group-forest.ts'

const fetched = vi.fn<(path: string, init: RequestInit) => Promise<Response>>()
beforeEach(() => {
  fetched.mockReset()
  vi.stubGlobal('fetch', fetched)
  vi.stubGlobal('window', { localStorage: { getItem: () => 'token' } })
})

const FOREST = {
  revision: 'r1',
  group: { id: 'a/b', reward: null },
  isRunning: true,
  formula: 'mean-std',
  samples: [],
  missing: [],
  nodes: [],
  splits: [],
  decisive: null,
  sharedTokens: 0,
  rewards: null,
  notes: [],
  counts: { trees: 0, leaves: 0, splits: 0, tokens: 0, distinctTokens: 0 },
}
const client = () => new QueryClient({ defaultOptions: { queries: { retry: false } } })

test('an answer that is still the same keeps the forest that the page has, so that nothing is drawn again', async () => {
  const cache = client()
  const options = groupForestOptions({ kind: 'group', id: 'a/b' }, 'mean-std')
  fetched.mockResolvedValueOnce(Response.json(FOREST))
  const first = await cache.fetchQuery(options)
  fetched.mockResolvedValueOnce(new Response(null, { status: 204 }))
  expect(await cache.fetchQuery(options)).toBe(first)
  expect(fetched.mock.calls.map(([path]) => path)).toEqual([
    '/api/groups/a%2Fb/forest?advantage=mean-std',
    '/api/groups/a%2Fb/forest?advantage=mean-std&known=r1',
  ])
})

test('selected trajectories are requested by their keys and the formula', async () => {
  fetched.mockResolvedValueOnce(Response.json({ ...FOREST, group: null, formula: 'mean' }))
  const { formula } = await client().fetchQuery(groupForestOptions({ kind: 'keys', keys: ['a', 'b'] }, 'mean'))
  expect(formula).toBe('mean')
  const [path, init] = fetched.mock.lastCall ?? []
  expect([path, init?.method, JSON.parse(String(init?.body))]).toEqual([
    '/api/forest',
    'POST',
    { keys: ['a', 'b'], advantage: 'mean' },
  ])
})

test('an answer that departs from its schema is refused with the field', async () => {
  fetched.mockResolvedValueOnce(Response.json({ ...FOREST, samples: undefined }))
  const asked = client().fetchQuery(groupForestOptions({ kind: 'group', id: 'g' }, 'mean-std'))
  await expect(asked).rejects.toThrow(/samples/)
})
