import { QueryClient } from '@tanstack/react-query'
import { act, renderHook } from '@testing-library/react'
import { expect, test } from 'vitest'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { withQueries } from '#testing/with-queries.tsx'
import { groupOf, wordTrajectory } from '../test-group.ts'
import { treeOfForest } from '../tree.ts'
import { useTrajectories } from './use-trajectories.ts'

/** Returns the hook over three samples whose rows have this number of tokens, and the branch of each sample. */
function show(tokens: number) {
  const { forest, trajectories } = groupOf(
    ['I', 'list', 'find'].map((word, index) => wordTrajectory(String(index), 'how', word)),
    [1, 0, 0],
  )
  const samples = forest.samples.map((sample) => ({ ...sample, row: { ...sample.row, tokens } }))
  const tree = treeOfForest({ ...forest, samples })
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } })
  for (const trajectory of trajectories) client.setQueryData(trajectoryOptions(trajectory.id).queryKey, trajectory)
  const { result } = renderHook(() => useTrajectories(tree, undefined), {
    wrapper: withQueries(client),
  })
  const branchOf = (sample: number) =>
    elementAt(
      tree.branches.filter(({ parent, samples }) => parent !== undefined && samples[0] === sample),
      0,
    ).index
  return {
    /** Makes the branches of samples visible, and returns the samples that are loaded then. */
    loadedAfter: (...visible: readonly number[]) => {
      act(() => result.current.onVisible(new Set(visible.map(branchOf))))
      return [...result.current.trajectories.keys()]
    },
  }
}

test('trajectories that leave the view stay loaded, the last visible ones within 1,300,000 tokens', () => {
  const { loadedAfter } = show(600_000)
  expect(loadedAfter(0)).toEqual([0])
  expect(loadedAfter(1)).toEqual([0, 1])
  expect(loadedAfter(2)).toEqual([1, 2])
  expect(loadedAfter(1)).toEqual([1, 2])
  expect(loadedAfter(0)).toEqual([1, 0])
})

test('all visible trajectories are loaded, however long they are', () => {
  const { loadedAfter } = show(1_400_000)
  expect(loadedAfter(0, 1, 2)).toEqual([0, 1, 2])
  expect(loadedAfter(1)).toEqual([1])
})
