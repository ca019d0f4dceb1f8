'use client'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useEffectEvent, useState, useSyncExternalStore } from 'react'
import { type RunStarted, runStartedSchema } from '#lib/api/run-request.ts'
import { labelsOf, withLabels } from '#lib/trajectory/format/labels.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { ApiError, callApi, fetchJson } from '../api.ts'
import { GROUPS, serversOptions, TRAJECTORIES, trajectoryOptions } from '../queries.ts'
import { createRolloutStore, type RolloutState } from './rollout-store.ts'

export interface Rollout {
  readonly state: RolloutState
  /** Starts a rollout, or a further turn on a stored trajectory, and follows it. Throws ApiError, or the signal's reason. */
  start(request: object, onTrajectory: string | undefined, signal: AbortSignal): Promise<RunStarted>
  /** Follows a rollout on the trajectory that the page shows. */
  follow(rolloutId: string): void
  stop(): Promise<void>
  reset(): void
}

/** What is being read of it is from the middle of the run. */
async function putEnded(cache: QueryClient, key: string, trajectory: TrajectoryView): Promise<void> {
  const { queryKey } = trajectoryOptions(key)
  await cache.cancelQueries({ queryKey })
  // Labels given during the run are the cache's: the run knows those of its beginning.
  cache.setQueryData(queryKey, (cached) => (cached ? withLabels(trajectory, labelsOf(cached)) : trajectory))
  // The rule of its group has given it another reward.
  if (trajectory.group) await cache.invalidateQueries({ queryKey })
}

const IDLE: RolloutState = { kind: 'idle' }

/**
 * `key`: the trajectory that the page shows. A rollout on another one is left: it goes on at the server, and is followed
 * again when its trajectory is shown.
 */
export function useRollout(key: string | undefined): Rollout {
  const [store] = useState(() => createRolloutStore((action) => requestAnimationFrame(action)))
  const all = useSyncExternalStore(store.subscribe, store.state, store.state)
  const state = all.kind !== 'idle' && all.key === key ? all : IDLE
  const cache = useQueryClient()
  // A launch token of another time: what asks for the servers asks for the token too.
  const askAgain = useEffectEvent((error: unknown) => {
    if (error instanceof ApiError && error.status === 401) void cache.invalidateQueries(serversOptions())
  })
  useEffect(() => {
    if (all.kind === 'ended') {
      void putEnded(cache, all.key, all.trajectory)
      void cache.invalidateQueries({ queryKey: TRAJECTORIES })
      // A sample of a group that went on by itself.
      void cache.invalidateQueries({ queryKey: GROUPS })
    }
    if (all.kind === 'gone' || all.kind === 'failed')
      void cache.invalidateQueries({ queryKey: trajectoryOptions(all.key).queryKey })
    if (all.kind === 'failed') askAgain(all.error)
  }, [all, cache])
  useEffect(() => {
    const followed = store.state()
    if (followed.kind === 'idle' || followed.key === key) return
    // What was read of it before it went on says that it has ended.
    if (followed.kind === 'following') cache.removeQueries({ queryKey: trajectoryOptions(followed.key).queryKey })
    store.reset()
  }, [store, key, cache])
  useEffect(() => () => store.reset(), [store])
  return {
    state,
    async start(request, onTrajectory, signal) {
      const path =
        onTrajectory === undefined ? '/api/rollouts' : `/api/trajectories/${encodeURIComponent(onTrajectory)}/continue`
      const options = { method: 'POST', json: { ...request, detached: true }, signal }
      const started = await fetchJson(path, runStartedSchema, options).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 'CHANGED') {
          store.reset()
          void cache.invalidateQueries({ queryKey: trajectoryOptions(onTrajectory).queryKey })
        }
        throw error
      })
      store.follow(started.rolloutId, started.trajectoryId)
      return started
    },
    follow: (rolloutId) => key !== undefined && store.follow(rolloutId, key),
    async stop() {
      if (state.kind === 'following')
        await callApi(`/api/rollouts/${encodeURIComponent(state.rolloutId)}/cancel`, { method: 'POST' })
    },
    reset: store.reset,
  }
}
