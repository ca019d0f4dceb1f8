import { QueryClient } from '@tanstack/react-query'
import { act, render, screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { NuqsTestingAdapter } from 'nuqs/adapters/testing'
import type { ReactNode } from 'react'
import { afterEach, expect, test, vi } from 'vitest'
import { pageReader } from '#lib/browser/page-reader.ts'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { StoredScreen } from './screen.tsx'

vi.mock('#components/shell/shell.tsx', () => ({
  Shell: (props: { readonly title: string; readonly notice?: ReactNode; readonly children: ReactNode }) => (
    <>
      <h1>{props.title}</h1>
      {props.notice}
      {props.children}
    </>
  ),
}))
vi.mock('./inspector.tsx', () => ({ Inspector: () => <main>The tokens.</main> }))

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('a shown trajectory that is deleted in another window is requested once, reported, and restored by a button', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true })
  vi.spyOn(pageReader, 'call').mockResolvedValue(sampleTrajectory)
  let isDeleted = true
  const requests: string[] = []
  vi.stubGlobal('fetch', async (path: string, { method = 'GET' }: RequestInit = {}) => {
    if (path.endsWith('/restore')) isDeleted = false
    if (!path.includes('/k/')) return Response.json({})
    requests.push(`${method} ${path.replace('/api/trajectories/k/', '')}`)
    return isDeleted
      ? Response.json(
          { code: 'DELETED', detail: 'the trajectory "k" was deleted', hint: 'Restore it.' },
          { status: 404 },
        )
      : Response.json({ revision: 1, labels: {} })
  })
  const cache = new QueryClient({ defaultOptions: { queries: { retry: false } } })
  cache.setQueryData(trajectoryOptions('k').queryKey, sampleTrajectory)
  const Queries = withQueries(cache)
  render(<StoredScreen storedKey="k" />, {
    wrapper: ({ children }) => (
      <NuqsTestingAdapter>
        <Queries>{children}</Queries>
      </NuqsTestingAdapter>
    ),
  })
  expect((await screen.findByRole('alert')).textContent).toContain('The trajectory "k" was deleted')
  expect(screen.getByText('The tokens.')).toBeDefined()
  expect(screen.getByRole('heading', { name: 'hi' })).toBeDefined()
  await act(() => vi.advanceTimersByTimeAsync(20_000))
  expect(requests).toEqual(['GET revision'])
  const user = userEvent.setup({ advanceTimers: vi.advanceTimersByTime })
  await user.click(screen.getByRole('button', { name: 'Restore' }))
  await vi.waitFor(() => expect(screen.queryByRole('alert')).toBeNull())
  await act(() => vi.advanceTimersByTimeAsync(6_000))
  expect(requests).toEqual(['GET revision', 'POST restore', 'GET revision', 'GET revision'])
  cache.clear()
})
