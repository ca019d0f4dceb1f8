// @vitest-environment jsdom
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, expect, test, vi } from 'vitest'
import { pageReader } from './page-reader.ts'
import { followedTrajectoryOptions } from './queries.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('A followed trajectory is read again while it is running, and no more after it has ended', async () => {
  vi.useFakeTimers()
  const trajectories = ['running', 'running', 'ended'].map((kind) => ({ outcome: { kind } }))
  const read = vi.spyOn(pageReader, 'call').mockImplementation(() => Promise.resolve(trajectories.shift() as never))
  const observer = new QueryObserver(new QueryClient(), followedTrajectoryOptions('a'))
  const stop = observer.subscribe(() => {})
  await vi.advanceTimersByTimeAsync(60_000)
  expect(observer.getCurrentResult().data).toEqual({ outcome: { kind: 'ended' } })
  expect(read.mock.calls.map(([path]) => path)).toEqual(Array(3).fill('/api/trajectories/a'))
  stop()
})
