// @vitest-environment jsdom
import { QueryClient } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'
import { ApiError } from '../api.ts'
import { latestTrajectoriesOptions } from './library.ts'

test('The latest trajectories are requested without the samples of value estimates', async () => {
  const fetched = vi.spyOn(globalThis, 'fetch').mockResolvedValue(Response.json({ detail: 'stopped' }, { status: 500 }))
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  await expect(client.fetchQuery(latestTrajectoriesOptions(7))).rejects.toThrow(ApiError)
  expect(fetched.mock.calls.map(([address]) => address)).toEqual(['/api/trajectories?limit=7&estimates=hidden'])
})
