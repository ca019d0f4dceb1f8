'use client'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { callApi } from './api.ts'
import { trajectoryOptions } from './queries.ts'
import { createRolloutStore, type RolloutState } from './rollout-store.ts'

interface StartedRollout {
  readonly rolloutId: string
  readonly trajectoryId: string
}

export interface Rollout {
  readonly state: RolloutState
  /** Starts a rollout, or a further turn on a stored trajectory, and follows it. Throws ApiError. */
  start(request: object, onTrajectory?: string): Promise<StartedRollout>
  follow(rolloutId: string): void
  stop(): Promise<void>
  reset(): void
}

/** `key`: the trajectory that the page shows; what a rollout made of it goes into the cache when it ends. */
export function useRollout(key: string | undefined): Rollout {
  const [store] = useState(() => createRolloutStore((action) => requestAnimationFrame(action)))
  const state = useSyncExternalStore(store.subscribe, store.state, store.state)
  const cache = useQueryClient()
  useEffect(() => {
    if (state.kind === 'ended' && key !== undefined) {
      cache.setQueryData(trajectoryOptions(key).queryKey, state.trajectory)
      cache.invalidateQueries({ queryKey: ['trajectories'] })
    }
    if (state.kind === 'gone' && key !== undefined)
      cache.invalidateQueries({ queryKey: trajectoryOptions(key).queryKey })
  }, [state, key, cache])
  return {
    state,
    async start(request, onTrajectory) {
      const path =
        onTrajectory === undefined ? '/api/rollouts' : `/api/trajectories/${encodeURIComponent(onTrajectory)}/continue`
      const started: StartedRollout = await (
        await callApi(path, { method: 'POST', json: { ...request, detached: true } })
      ).json()
      store.follow(started.rolloutId)
      return started
    },
    follow: store.follow,
    async stop() {
      if (state.kind === 'following')
        await callApi(`/api/rollouts/${encodeURIComponent(state.rolloutId)}/cancel`, { method: 'POST' })
    },
    reset: store.reset,
  }
}
