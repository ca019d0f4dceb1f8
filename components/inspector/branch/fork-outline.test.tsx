import { QueryClient } from '@tanstack/react-query'
import { act, render, screen } from '@testing-library/react'
import { expect, test, vi } from 'vitest'
import { treeOptions } from '#lib/browser/library/branches.ts'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import { sampleTrajectory } from '#testing/sample-trajectory.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { ForkOutline } from './fork-outline.tsx'

vi.mock('#components/shell/navigation.tsx', () => ({ Link: () => null }))

test('The outline of a branch shows its other parts when its branches are known, or cannot be read at first', async () => {
  const answer = Promise.withResolvers<Response>()
  vi.spyOn(globalThis, 'fetch').mockReturnValue(answer.promise)
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  client.setQueryData(trajectoryOptions('other').queryKey, sampleTrajectory)
  const show = (storedKey: string) => (
    <ForkOutline
      forkedFrom={{ trajectory: 'other', token: 2, kind: 'continued' }}
      trajectory={sampleTrajectory}
      storedKey={storedKey}
      onChoose={() => {}}
    >
      Segments
    </ForkOutline>
  )
  const { rerender } = render(show('failing'), { wrapper: withQueries(client) })
  expect(screen.getByRole('region', { name: 'Fork' })).toBeTruthy()
  expect(screen.queryByText('Segments')).toBeNull()
  await act(async () => answer.resolve(Response.json({}, { status: 503 })))
  expect(await screen.findByText('Segments')).toBeTruthy()
  const counts = { trees: 1, leaves: 1, splits: 0, tokens: 1, distinctTokens: 1 }
  client.setQueryData(treeOptions('known').queryKey, { leaves: [], nodes: [], counts, leftOut: 0 })
  rerender(show('known'))
  expect(screen.getByText('Segments')).toBeTruthy()
})
