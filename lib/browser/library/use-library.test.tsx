import { QueryClient } from '@tanstack/react-query'
import { renderHook } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import type { Labels } from '#lib/trajectory/format/labels.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { TRAJECTORIES, trajectoryOptions } from '../queries.ts'
import { addNote, changeNote } from './notes.ts'
import { DELETIONS, useOtherWindows } from './other-windows.ts'
import { keepRemoval, removedKeys } from './removals.ts'
import { revisionOptions } from './revision.ts'
import { REVISION } from './shown-labels.ts'
import { useLibrary } from './use-library.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

const libraryOn = (cache: QueryClient) =>
  renderHook(useLibrary, {
    wrapper: withQueries(cache),
  }).result

/** Returns the cache of a page that shows a trajectory with these labels. */
function pageWith(labels: Labels): QueryClient {
  const cache = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  cache.setQueryData(trajectoryOptions('a').queryKey, { ...sample, ...labels })
  return cache
}

const shown = (cache: QueryClient) => cache.getQueryData(trajectoryOptions('a').queryKey)

const NOTES = [
  { id: '1', start: 0, end: 2, text: 'mine' },
  { id: '2', start: 1, end: 3, text: 'of another page' },
]

test('A page shows the labels that another page has changed, and leaves equal labels as they are', async () => {
  let labels: Labels = { title: 'new', notes: NOTES }
  vi.stubGlobal('fetch', async () => Response.json({ revision: 1, labels }))
  const cache = pageWith({ title: 'old', tags: ['t'] })
  await cache.fetchQuery(revisionOptions('a', true))
  const before = shown(cache)
  expect(before).toMatchObject({ title: 'new', notes: NOTES, id: 'sample' })
  expect(before).not.toHaveProperty('tags')
  const updates = cache.getQueryState(trajectoryOptions('a').queryKey)?.dataUpdateCount
  await cache.fetchQuery(revisionOptions('a', true))
  expect(shown(cache)).toBe(before)
  // Compare would compare again at each update.
  expect(cache.getQueryState(trajectoryOptions('a').queryKey)?.dataUpdateCount).toBe(updates)
  labels = {}
  await cache.fetchQuery(revisionOptions('a', true))
  expect(shown(cache)).not.toHaveProperty('notes')
})

test('A page reads a trajectory again if its revision has grown, and not if only its labels have changed', async () => {
  let answer: { readonly revision: number; readonly labels: Labels } = { revision: 1, labels: {} }
  vi.stubGlobal('fetch', async () => Response.json(answer))
  const cache = pageWith({})
  const isStale = () => cache.getQueryState(trajectoryOptions('a').queryKey)?.isInvalidated
  for (const [next, isReadAgain] of [
    [answer, false],
    [{ revision: 1, labels: { title: 'new' } }, false],
    [{ revision: 2, labels: { title: 'new' } }, true],
  ] as const) {
    answer = next
    await cache.fetchQuery(revisionOptions('a', true))
    expect([next, isStale()]).toEqual([next, isReadAgain])
  }
})

test('A page that stores a note ignores labels that the server sent before', async () => {
  const earlier = Promise.withResolvers<Response>()
  vi.stubGlobal('fetch', (path: string, { signal }: RequestInit) => {
    if (!path.endsWith('/revision')) return Promise.resolve(Response.json({ notes: NOTES }, { status: 201 }))
    signal?.addEventListener('abort', () => earlier.reject(signal.reason))
    return earlier.promise
  })
  const cache = pageWith({})
  const polled = cache.fetchQuery(revisionOptions('a', true)).catch(() => 'cancelled')
  await addNote(cache, 'a', { start: 0, end: 2, text: 'mine' })
  earlier.resolve(Response.json({ revision: 1, labels: {} }))
  await polled
  expect(shown(cache)).toMatchObject({ notes: NOTES })
})

test('A page that writes a note also shows the notes of another page', async () => {
  vi.stubGlobal('fetch', async () => Response.json({ notes: NOTES }, { status: 201 }))
  const cache = pageWith({})
  await addNote(cache, 'a', { start: 0, end: 2, text: 'mine' })
  expect(shown(cache)).toMatchObject({ notes: NOTES })
  vi.stubGlobal('fetch', async () => Response.json({ notes: [] }))
  await changeNote(cache, 'a', '1', { text: null, before: 'mine' })
  expect(shown(cache)).not.toHaveProperty('notes')
})

test('A page whose change of a note is refused shows the notes as they are stored', async () => {
  vi.stubGlobal('fetch', async (path: string) =>
    path.endsWith('/revision')
      ? Response.json({ revision: 1, labels: { notes: NOTES } })
      : Response.json({ code: 'NOTE_CHANGED', detail: 'another text' }, { status: 409 }),
  )
  const cache = pageWith({ notes: [{ id: '1', start: 0, end: 2, text: 'before' }] })
  const change = changeNote(cache, 'a', '1', { text: 'x', before: 'before' })
  await expect(change).rejects.toMatchObject({ code: 'NOTE_CHANGED' })
  expect(shown(cache)).toMatchObject({ notes: NOTES })
})

test('A deletion of a trajectory that another window has deleted can be undone in both', async () => {
  vi.stubGlobal('fetch', async (path: string) =>
    path.endsWith('/a')
      ? Response.json({ code: 'DELETED', detail: 'the trajectory “a” was deleted' }, { status: 404 })
      : Response.json({}),
  )
  keepRemoval({ keys: ['a'], at: Date.now() })
  const library = libraryOn(new QueryClient())
  expect(await library.current.remove(['a', 'b'])).toEqual({ done: ['a', 'b'], refused: [] })
  expect(removedKeys(['a', 'b'])).toEqual(['a', 'b'])
})

test('A deletion of many trajectories leaves connections of the browser to other requests', async () => {
  let open = 0
  let most = 0
  vi.stubGlobal('fetch', async () => {
    most = Math.max(most, ++open)
    await new Promise((resolve) => setTimeout(resolve))
    open--
    return Response.json({})
  })
  const keys = Array.from({ length: 50 }, (_, n) => `k${n}`)
  expect(await libraryOn(new QueryClient()).current.remove(keys)).toEqual({ done: keys, refused: [] })
  expect(most).toBe(4)
})

test.each(['remove', 'restore'] as const)('The other windows show what a window does (%s)', async (action) => {
  vi.stubGlobal('fetch', async () => Response.json({}))
  const other = new BroadcastChannel(DELETIONS)
  const heard = Promise.withResolvers<unknown>()
  other.onmessage = heard.resolve
  await libraryOn(new QueryClient()).current[action](['a'])
  await heard.promise
  const cache = new QueryClient()
  for (const queryKey of [TRAJECTORIES, [...REVISION, 'a']]) cache.setQueryData(queryKey, [])
  const { unmount } = renderHook(useOtherWindows, { wrapper: withQueries(cache) })
  other.postMessage(null)
  await vi.waitFor(() => {
    expect(cache.getQueryState(TRAJECTORIES)?.isInvalidated).toBe(true)
    expect(cache.getQueryState([...REVISION, 'a'])?.isInvalidated).toBe(true)
  })
  unmount()
  other.close()
})

test.each(['remove', 'restore'] as const)(
  'A library action that fails for %s is still done for the other trajectories',
  async (action) => {
    vi.stubGlobal('fetch', async (path: string) =>
      path.includes('/gone')
        ? Response.json({ code: 'NO_TRAJECTORY', detail: 'there is none' }, { status: 404 })
        : Response.json({}),
    )
    const cache = new QueryClient()
    cache.setQueryData(TRAJECTORIES, [])
    const result = libraryOn(cache)
    expect(await result.current[action](['a', 'gone', 'b'])).toMatchObject({
      done: ['a', 'b'],
      refused: [{ key: 'gone', error: { status: 404 } }],
    })
    expect(cache.getQueryState(TRAJECTORIES)?.isInvalidated).toBe(true)
  },
)
