import { QueryClient } from '@tanstack/react-query'
import { act, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { withQueries } from '#testing/with-queries.tsx'
import { isAnswering } from './application.ts'
import { useGuardedNavigation } from './use-guarded-navigation.ts'

type Server = 'up' | 'refuses' | 'hangs' | 'proxy' | 'token' | 'late'
/** Time of the fake clock at which a slow server answers. */
let answersAt = 0
let server: Server
const push = vi.fn()

beforeEach(() => {
  vi.useFakeTimers()
  server = 'up'
  push.mockClear()
  vi.spyOn(document, 'visibilityState', 'get').mockReturnValue('visible')
  // The browser's own timer is not one of the fake timers.
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(new DOMException('', 'TimeoutError')), milliseconds)
    return controller.signal
  })
  vi.stubGlobal('fetch', (_: string, { signal }: RequestInit) => {
    if (server === 'up') return Promise.resolve(Response.json({ status: 'ok' }))
    if (server === 'refuses') return Promise.reject(new TypeError('Failed to fetch'))
    if (server === 'proxy') return Promise.resolve(new Response('Bad gateway', { status: 502 }))
    if (server === 'token') return Promise.resolve(Response.json({ code: 'NO_TOKEN', detail: 'd' }, { status: 401 }))
    return new Promise((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason))
      if (server === 'late') setTimeout(() => resolve(Response.json({ status: 'ok' })), answersAt - Date.now())
    })
  })
})
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

const pass = (milliseconds: number) => act(() => vi.advanceTimersByTimeAsync(milliseconds))

async function page() {
  const cache = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  const { result } = renderHook(() => useGuardedNavigation(push), {
    wrapper: withQueries(cache),
  })
  await pass(0)
  return { result, cache }
}

describe('An unreachable application', () => {
  test.each<Server>(['refuses', 'proxy'])('is noticed within 3 s if its address %s', async (gone) => {
    const { result } = await page()
    expect(result.current.application).toBe('answers')
    server = gone
    await pass(3_000)
    expect(result.current.application).toBe('unreachable')
    server = 'up'
    await pass(3_000)
    expect(result.current.application).toBe('answers')
  })

  test('is slow within 3 s if it is silent, and unreachable after 15 s more until it answers', async () => {
    const { result } = await page()
    server = 'hangs'
    await pass(3_000)
    expect(result.current.application).toBe('slow')
    await pass(13_500)
    expect(result.current.application).toBe('unreachable')
    await pass(5_000)
    expect(result.current.application).toBe('unreachable')
    server = 'up'
    await pass(15_000)
    expect(result.current.application).toBe('answers')
  })

  test('is not polled while the page is hidden', async () => {
    const { result } = await page()
    vi.mocked(Object.getOwnPropertyDescriptor(document, 'visibilityState')?.get as () => string).mockReturnValue(
      'hidden',
    )
    server = 'refuses'
    await pass(60_000)
    expect(result.current.application).toBe('answers')
  })
})

test('An application that requires a token counts as reachable', async () => {
  server = 'token'
  expect(await isAnswering()).toBe(true)
})

describe('A guarded navigation', () => {
  test('opens the page if the application answers', async () => {
    const { result } = await page()
    await act(() => result.current.go('/library'))
    expect(push).toHaveBeenCalledExactlyOnceWith('/library')
  })

  test('requests an answer of the application while it waits for `ready`, and opens the page after both', async () => {
    const { result } = await page()
    const { promise, resolve } = Promise.withResolvers<void>()
    server = 'late'
    answersAt = Date.now() + 50
    act(() => void result.current.go('/library', promise))
    await pass(50)
    expect(push).not.toHaveBeenCalled()
    // Only `ready` is missing: the page opens without a further request.
    await act(async () => resolve())
    expect(push).toHaveBeenCalledExactlyOnceWith('/library')
  })

  test('uses the check of a press for half a second, once', async () => {
    const { result } = await page()
    server = 'late'
    answersAt = Date.now() + 80
    act(() => result.current.expectGo())
    server = 'hangs'
    await pass(60)
    act(() => void result.current.go('/library'))
    expect(push).not.toHaveBeenCalled()
    await pass(20)
    expect(push).toHaveBeenCalledExactlyOnceWith('/library')
    server = 'up'
    act(() => result.current.expectGo())
    server = 'refuses'
    await pass(500)
    await act(() => result.current.go('/servers'))
    expect([push.mock.calls.length, result.current.waiting]).toEqual([1, '/servers'])
  })

  test('waits while the application is unreachable, and opens once it answers again', async () => {
    const { result } = await page()
    server = 'refuses'
    await act(() => result.current.go('/library'))
    expect([result.current.application, result.current.waiting, push.mock.calls]).toEqual([
      'unreachable',
      '/library',
      [],
    ])
    await pass(5_000)
    expect(push).not.toHaveBeenCalled()
    server = 'up'
    await pass(3_000)
    expect(push).toHaveBeenCalledExactlyOnceWith('/library')
    expect(result.current.waiting).toBeUndefined()
  })

  test.each([false, true])(
    'to a slow application says so, and opens when it answers (checked by a press: %s)',
    async (isPressed) => {
      const { result } = await page()
      server = 'late'
      answersAt = Date.now() + 6_000
      if (isPressed) act(() => result.current.expectGo())
      act(() => void result.current.go('/library'))
      await pass(1_000)
      expect(result.current.waiting).toBeUndefined()
      await pass(2_000)
      expect([result.current.application, result.current.waiting]).toEqual(['slow', '/library'])
      await pass(4_000)
      expect(push).toHaveBeenCalledExactlyOnceWith('/library')
      expect([result.current.application, result.current.waiting]).toEqual(['answers', undefined])
    },
  )

  test('to a slow application is forgotten after the reader chose to stay', async () => {
    const { result } = await page()
    server = 'late'
    answersAt = Date.now() + 6_000
    act(() => void result.current.go('/library'))
    await pass(3_000)
    act(() => result.current.stay())
    await pass(4_000)
    expect([push.mock.calls, result.current.waiting]).toEqual([[], undefined])
  })

  test('gives the focus to the next page, once, if what opened it had a visible focus', async () => {
    const { result } = await page()
    const button = document.createElement('button')
    document.body.append(button)
    button.focus()
    expect(document.querySelector(':focus-visible')).toBe(button)
    await act(() => result.current.go('/compare'))
    button.remove()
    expect([result.current.takeFocus(), result.current.takeFocus()]).toEqual([true, false])
    await act(() => result.current.go('/library'))
    expect(result.current.takeFocus()).toBe(false)
  })

  test('does not open after the reader chose to stay, and only the last of two opens', async () => {
    const { result } = await page()
    server = 'refuses'
    await act(() => result.current.go('/library'))
    act(() => result.current.stay())
    server = 'up'
    await pass(3_000)
    expect(push).not.toHaveBeenCalled()
    await act(() => Promise.all([result.current.go('/servers'), result.current.go('/compare')]))
    expect(push).toHaveBeenCalledExactlyOnceWith('/compare')
  })
})

test('A query that failed in the meantime is requested again once the application answers', async () => {
  const { cache } = await page()
  let isBroken = true
  const read = () => (isBroken ? Promise.reject(new Error('gone')) : Promise.resolve('read'))
  await cache.prefetchQuery({ queryKey: ['a'], queryFn: read })
  server = 'refuses'
  await pass(3_000)
  isBroken = false
  server = 'up'
  await pass(3_000)
  expect(cache.getQueryData(['a'])).toBe('read')
})
