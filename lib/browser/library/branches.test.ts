// @vitest-environment jsdom
import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, expect, test, vi } from 'vitest'
import { treeOptions } from './branches.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('The tree of a trajectory is read again while one of its branches is running, and no more after all have ended', async () => {
  vi.useFakeTimers()
  const trees = ['running', 'running', 'ended'].map((outcomeKind) => ({
    leaves: [{ row: { outcomeKind: 'ended' } }, { row: { outcomeKind } }],
  }))
  const read = vi.fn(() => trees.shift() as never)
  const observer = new QueryObserver(new QueryClient(), { ...treeOptions('a'), queryFn: read })
  const stop = observer.subscribe(() => {})
  await vi.advanceTimersByTimeAsync(60_000)
  expect(read).toHaveBeenCalledTimes(3)
  stop()
})
