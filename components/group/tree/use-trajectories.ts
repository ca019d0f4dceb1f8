'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { SampleTree } from '../tree.ts'
import { createTrajectoryLoader } from './trajectory-loader.ts'

/** Loaded trajectories by the index of their sample, in the order in which they were requested. */
export type Trajectories = ReadonlyMap<number, TrajectoryView>

/** Returns the loaded trajectories, and a function that receives the visible branches from top to bottom. Trajectories of branches that were visible last stay loaded. */
export function useTrajectories(tree: SampleTree, pinned: number | undefined) {
  const client = useQueryClient()
  const [loader] = useState(() => createTrajectoryLoader(client, tree))
  const loaded = useSyncExternalStore(loader.subscribe, loader.loaded, loader.loaded)
  useEffect(() => loader.setTree(tree, pinned), [loader, tree, pinned])
  const samples = useMemo(() => new Map(tree.forest.samples.map(({ row }, sample) => [row.key, sample])), [tree])
  const trajectories: Trajectories = useMemo(
    () =>
      new Map(
        [...loaded.trajectories].flatMap(([key, trajectory]) => {
          const sample = samples.get(key)
          return sample === undefined ? [] : [[sample, trajectory] as const]
        }),
      ),
    [loaded.trajectories, samples],
  )
  return { trajectories, error: loaded.error, onVisible: loader.setVisible }
}
