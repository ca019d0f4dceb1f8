'use client'
/** The trajectories from which the tree is drawn: those of the visible branches, loaded when they are needed. */
import { useQueries } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { SampleTree } from '../tree.ts'

/** Loaded trajectories by the index of their sample. */
export type Trajectories = ReadonlyMap<number, TrajectoryView>

/** Most tokens of the trajectories that stay loaded after they leave the view: 64 samples of 20,000 tokens, each read once. */
const MOST_TOKENS = 1_300_000

const POLL_RUNNING_MS = 2_000

/** Returns the loaded trajectories, and a function that receives the visible branches from top to bottom. Trajectories of branches that were visible last stay loaded. */
export function useTrajectories(tree: SampleTree, pinned: number | undefined) {
  const [needed, setNeeded] = useState<readonly number[]>([])
  const samples = useMemo(
    () => (pinned === undefined || needed.includes(pinned) ? needed : [pinned, ...needed]),
    [needed, pinned],
  )
  // A map is not compared with the one before: the comparison of lists would read every token of trajectories at other places.
  const combine = useCallback(
    (results: readonly { readonly data: TrajectoryView | undefined; readonly error: Error | null }[]) => ({
      trajectories: new Map(
        results.flatMap(({ data }, at) => (data ? [[elementAt(samples, at), data] as const] : [])),
      ) as Trajectories,
      error: results.find(({ error }) => error)?.error ?? undefined,
    }),
    [samples],
  )
  const { trajectories, error } = useQueries({
    queries: samples.map((sample) => ({
      ...trajectoryOptions(elementAt(tree.forest.samples, sample).row.key),
      refetchInterval: ({ state }: { readonly state: { readonly data?: TrajectoryView | undefined } }) =>
        state.data?.outcome.kind === 'running' ? POLL_RUNNING_MS : (false as const),
    })),
    combine,
  })
  return {
    trajectories,
    error,
    onVisible: (branches: ReadonlySet<number>) => {
      const now = samplesOfBranches(tree, branches)
      setNeeded((known) => {
        if (now.every((sample) => known.includes(sample)) && now[0] === known[0]) return known
        return withinTokens([...new Set([...now, ...known])], now.length, tree)
      })
    },
  }
}

/** Returns the samples from which branches are drawn. A branch without tokens needs none. */
function samplesOfBranches(tree: SampleTree, branches: ReadonlySet<number>): readonly number[] {
  const samples = [...branches].flatMap((index) => {
    const branch = tree.branches[index]
    return branch && branch.end > branch.start ? [branch.sample] : []
  })
  return [...new Set(samples)]
}

/** Returns the first samples: those that are needed now, and others up to MOST_TOKENS tokens. */
function withinTokens(samples: readonly number[], least: number, { forest }: SampleTree): readonly number[] {
  let tokens = 0
  return samples.filter((sample, at) => {
    tokens += forest.samples[sample]?.row.tokens ?? 0
    return at < least || tokens <= MOST_TOKENS
  })
}
