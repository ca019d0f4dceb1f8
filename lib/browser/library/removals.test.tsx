import { QueryClient } from '@tanstack/react-query'
import { act, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { withQueries } from '#testing/with-queries.tsx'
import { forgetAllRemovals, keepRemoval, useUndoableRemovals } from './removals.ts'
import { useLibrary } from './use-library.ts'

const HOUR_MS = 60 * 60_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  act(forgetAllRemovals)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

/** Returns the keys of the deletions that a page offers to undo. A new call is a new page. */
const offeredKeys = () => renderHook(useUndoableRemovals).result.current.map(({ keys }) => keys)

const libraryActions = () => renderHook(useLibrary, { wrapper: withQueries(new QueryClient()) }).result.current

/** Makes the server answer these keys with a status, and all others with success. */
const refuse = (statuses: Readonly<Record<string, number>>) =>
  vi.stubGlobal('fetch', async (path: string) => {
    const status = statuses[path.split('/')[3] ?? '']
    return status === undefined ? Response.json({}) : Response.json({ code: 'X', detail: 'refused' }, { status })
  })

test('a deletion can be undone on another page, without the trajectories that the server did not delete', async () => {
  refuse({ running: 409 })
  const library = libraryActions()
  await act(() => library.remove(['a', 'b']))
  await act(() => library.remove(['c', 'running']))
  expect(offeredKeys()).toEqual([['a', 'b'], ['c']])
})

test('a trajectory that is restored anywhere, or is gone, is no longer offered, and one whose restoring failed is', async () => {
  refuse({})
  const library = libraryActions()
  await act(() => library.remove(['a', 'gone', 'failed']))
  refuse({ gone: 404, failed: 500 })
  await act(() => library.restore(['a', 'gone', 'failed']))
  expect(offeredKeys()).toEqual([['failed']])
})

test('a deletion is offered for a day', () => {
  act(() => keepRemoval({ keys: ['a'], at: Date.now() }))
  vi.setSystemTime(Date.now() + 23 * HOUR_MS)
  expect(offeredKeys()).toEqual([['a']])
  vi.setSystemTime(Date.now() + HOUR_MS)
  expect(offeredKeys()).toEqual([])
})

test('stored deletions that cannot be read are not offered', () => {
  localStorage.setItem('rollscope.preference.removals', '[{"keys":["a"],"at":"now"},null,{"keys":[1],"at":1}]')
  expect(offeredKeys()).toEqual([])
})
