import { QueryClient, useQuery } from '@tanstack/react-query'
import { act, renderHook } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { withQueries } from '#testing/with-queries.tsx'
import { serversOptions } from './queries.ts'
import { saveServers, serverLoadOptions } from './servers.ts'

afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('Several servers are saved even if one of them is refused, which is reported', async () => {
  const calls: string[] = []
  vi.stubGlobal('fetch', async (path: string, { method, body }: RequestInit) => {
    const { name, baseUrl } = JSON.parse(String(body))
    calls.push(`${method} ${path} ${name}`)
    return name === 'bad'
      ? Response.json({ code: 'ADDRESS_REFUSED', detail: 'link-local' }, { status: 400 })
      : Response.json({ name, baseUrl, source: 'saved', hasKey: false })
  })
  const baseUrl = 'http://a'
  const refused = await saveServers([
    { input: { name: 'bad', baseUrl }, replaced: undefined },
    { input: { name: 'moved', baseUrl }, replaced: 'moved' },
    { input: { name: 'new', baseUrl }, replaced: undefined },
  ])
  expect(calls).toEqual(['POST /api/servers bad', 'PUT /api/servers/moved moved', 'POST /api/servers new'])
  expect([...refused].map(([name, { message }]) => [name, message])).toEqual([['bad', 'link-local']])
})

/** Follows the load of a server; returns the number of requests so far, and lets time pass. */
function followLoad(load: object) {
  vi.useFakeTimers()
  const fetch = vi.fn(async () => Response.json(load))
  vi.stubGlobal('fetch', fetch)
  const cache = new QueryClient()
  renderHook(() => useQuery(serverLoadOptions('gpu')), {
    wrapper: withQueries(cache),
  })
  return async (milliseconds: number) => {
    await act(() => vi.advanceTimersByTimeAsync(milliseconds))
    return fetch.mock.calls.length
  }
}

test('The load of a server is requested every two seconds while the page is visible', async () => {
  const visibility = vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('visible')
  const pass = followLoad({ state: 'reported', running: 1 })
  expect(await pass(1)).toBe(1)
  expect(await pass(2_000)).toBe(2)
  visibility.mockReturnValue('hidden')
  expect(await pass(60_000)).toBe(2)
  visibility.mockReturnValue('visible')
  expect(await pass(2_000)).toBe(3)
})

test('A server that another window or a script removes leaves the list without a reload', async () => {
  vi.useFakeTimers()
  const servers = [{ name: 'gpu', baseUrl: 'http://gpu', source: 'saved', hasKey: false }]
  vi.stubGlobal('fetch', async () => Response.json({ servers, default: 'built-in' }))
  const { result } = renderHook(() => useQuery(serversOptions()), { wrapper: withQueries(new QueryClient()) })
  await act(() => vi.advanceTimersByTimeAsync(1))
  expect(result.current.data?.servers).toHaveLength(1)
  servers.pop()
  await act(() => vi.advanceTimersByTimeAsync(5_000))
  expect(result.current.data?.servers).toEqual([])
})

test('The load of a server that does not report it is requested once', async () => {
  const pass = followLoad({ state: 'not-reported' })
  expect(await pass(60_000)).toBe(1)
})
