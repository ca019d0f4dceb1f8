'use client'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState, useSyncExternalStore } from 'react'
import { type RunStarted, runStartedSchema } from '#lib/api/run-request.ts'
import { labelsOf, withLabels } from '#lib/trajectory/format/labels.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { ApiError, fetchJson } from '../api.ts'
import { GROUPS, serversOptions, TRAJECTORIES, trajectoryOptions } from '../queries.ts'
import { requestCancel } from './cancel.ts'
import { createRolloutStore, type RolloutState, type SettledRollout } from './rollout-store.ts'

/** The rollout of a page. */
export interface Rollout {
  readonly state: RolloutState
  /** Starts a rollout, or a further turn on a stored trajectory, and follows it. Throws ApiError, or the signal's reason. */
  start(request: object, onTrajectory: string | undefined, signal: AbortSignal): Promise<RunStarted>
  /** Follows a rollout on the shown trajectory. */
  follow(rolloutId: string): void
  stop(): Promise<void>
  reset(): void
}

/** Puts an ended trajectory into the cache. Reads under way are cancelled, because they are from the middle of the run. */
async function putEnded(cache: QueryClient, key: string, trajectory: TrajectoryView): Promise<void> {
  const { queryKey } = trajectoryOptions(key)
  await cache.cancelQueries({ queryKey })
  // Labels given during the run are in the cache: the run knows only those of its beginning.
  cache.setQueryData(queryKey, (cached) => (cached ? withLabels(trajectory, labelsOf(cached)) : trajectory))
  // The rule of its group has given it another reward.
  if (trajectory.group) await cache.invalidateQueries({ queryKey })
}

/** Updates what was read from the server before the rollout ended or was lost. */
function updateCache(cache: QueryClient, settled: SettledRollout): void {
  if (settled.kind === 'ended') {
    void putEnded(cache, settled.key, settled.trajectory)
    void cache.invalidateQueries({ queryKey: TRAJECTORIES })
    // The rollout was a sample of a group that continued by itself.
    void cache.invalidateQueries({ queryKey: GROUPS })
  } else void cache.invalidateQueries({ queryKey: trajectoryOptions(settled.key).queryKey })
  // The launch token is from an earlier start: the query for the servers then requests a new token.
  if (settled.kind === 'failed' && settled.error.status === 401) void cache.invalidateQueries(serversOptions())
}

const IDLE: RolloutState = { kind: 'idle' }

/**
 * Follows the rollout of a page; `key` is the shown trajectory. A rollout on another trajectory is left: it continues on the server, and is
 * followed again when its trajectory is shown.
 */
export function useRollout(key: string | undefined): Rollout {
  const cache = useQueryClient()
  const [store] = useState(() =>
    createRolloutStore(
      (action) => requestAnimationFrame(action),
      (settled) => updateCache(cache, settled),
    ),
  )
  const all = useSyncExternalStore(store.subscribe, store.state, store.state)
  const state = all.kind !== 'idle' && all.key === key ? all : IDLE
  useEffect(() => {
    const followed = store.state()
    if (followed.kind === 'idle' || followed.key === key) return
    // The cached trajectory, which was read before the rollout continued, says that it has ended.
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
      if (state.kind === 'following') await requestCancel('rollouts', state.rolloutId)
    },
    reset: store.reset,
  }
}
