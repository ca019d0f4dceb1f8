import { QueryClient } from '@tanstack/react-query'
import { renderHook } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { neighboursOptions } from '#lib/browser/library/neighbours.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { useListPlace } from './use-list-place.ts'

vi.mock('#components/shell/view-state.ts', () => ({
  useViewState: () => ({ list: undefined, besideAt: (path: string) => path }),
}))
vi.mock('#lib/browser/files/use-opened-file.ts', () => ({ useOpenedFile: () => ({ keysWith: () => [] }) }))

test('Without a list in the address, the walk through the library leaves out the samples of value estimates', () => {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  const place = { ahead: 1, total: 3, isListed: true, previous: 'before', next: 'after' }
  client.setQueryData(neighboursOptions('k', 'estimates=hidden').queryKey, place)
  const { result } = renderHook(() => useListPlace(sampleTrajectory, 'k'), {
    wrapper: withQueries(client),
  })
  expect(result.current).toMatchObject({
    name: 'in the library',
    href: '/library?estimates=hidden&row=k',
    number: 2,
    total: 3,
    next: '/t/after',
  })
})
