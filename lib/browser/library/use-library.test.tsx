import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { renderHook } from '@testing-library/react'
import type { ReactNode } from 'react'
import { afterEach, expect, test, vi } from 'vitest'
import { TRAJECTORIES } from '../queries.ts'
import { useLibrary } from './use-library.ts'

afterEach(() => {
  vi.unstubAllGlobals()
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
    const { result } = renderHook(useLibrary, {
      wrapper: ({ children }: { readonly children: ReactNode }) => (
        <QueryClientProvider client={cache}>{children}</QueryClientProvider>
      ),
    })
    expect(await result.current[action](['a', 'gone', 'b'])).toMatchObject({
      done: ['a', 'b'],
      refused: [{ key: 'gone', error: { status: 404 } }],
    })
    expect(cache.getQueryState(TRAJECTORIES)?.isInvalidated).toBe(true)
  },
)
