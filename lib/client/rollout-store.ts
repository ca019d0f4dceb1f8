/**
 * The rollout that is open in the page: follows its events, applies them with the same reducer as everywhere and
 * shows them once a frame, and comes back after a lost connection at the event where it left.
 */
import type { RolloutEvent } from '#lib/core/events.ts'
import { createGrowth } from '#lib/core/growth.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'
import { ApiError, callApi, lines } from './api.ts'

/** `key`: under which the trajectory is stored. */
export type RolloutState =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'following'
      readonly key: string
      readonly rolloutId: string
      readonly trajectory: TrajectoryView | undefined
      readonly isConnected: boolean
    }
  | { readonly kind: 'ended'; readonly key: string; readonly trajectory: TrajectoryView }
  /** It ended while nobody listened: the stored trajectory says how. */
  | { readonly kind: 'gone'; readonly key: string }
  /** It cannot be followed any more; it may go on at the server. The trajectory is what had come. */
  | {
      readonly kind: 'failed'
      readonly key: string
      readonly error: ApiError
      readonly trajectory: TrajectoryView | undefined
    }

export interface RolloutStore {
  subscribe(listener: () => void): () => void
  state(): RolloutState
  follow(rolloutId: string, key: string): void
  /** Forgets the rollout; it goes on at the server. */
  reset(): void
}

const RECONNECT_MS = 1_000

/** `nextFrame` runs an action before the next picture is drawn. */
export function createRolloutStore(nextFrame: (action: () => void) => void): RolloutStore {
  const listeners = new Set<() => void>()
  let current: RolloutState = { kind: 'idle' }
  let leave = new AbortController()
  const set = (state: RolloutState) => {
    current = state
    for (const listener of listeners) listener()
  }
  return {
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    state: () => current,
    reset() {
      leave.abort()
      set({ kind: 'idle' })
    },
    follow(rolloutId, key) {
      leave.abort()
      leave = new AbortController()
      set({ kind: 'following', key, rolloutId, trajectory: undefined, isConnected: true })
      followUntilEnd(rolloutId, key, leave.signal, nextFrame, () => current, set)
    },
  }
}

async function followUntilEnd(
  rolloutId: string,
  key: string,
  signal: AbortSignal,
  nextFrame: (action: () => void) => void,
  current: () => RolloutState,
  set: (state: RolloutState) => void,
): Promise<void> {
  const growth = createGrowth()
  let received = 0
  let isDue = false
  let hasEnded = false
  const draw = () => {
    isDue = false
    const state = current()
    if (signal.aborted || state.kind !== 'following') return
    try {
      const { trajectory } = growth
      set(hasEnded && trajectory ? { kind: 'ended', key, trajectory } : { ...state, trajectory })
    } catch (error) {
      fail(notUnderstood(error))
    }
  }
  const fail = (error: ApiError) => {
    const state = current()
    set({ kind: 'failed', key, error, trajectory: state.kind === 'following' ? state.trajectory : undefined })
  }
  while (!signal.aborted) {
    try {
      const response = await callApi(`/api/rollouts/${encodeURIComponent(rolloutId)}/events?from=${received}`, {
        signal,
      })
      connected(true)
      for await (const event of lines(response) as AsyncIterable<RolloutEvent>) {
        received++
        try {
          growth.add(event)
        } catch (error) {
          return fail(notUnderstood(error))
        }
        hasEnded = event.type === 'ended'
        if (!isDue) nextFrame(draw)
        isDue = true
        if (hasEnded) return
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && error.status === 404) return set({ kind: 'gone', key })
      if (error instanceof ApiError && error.status !== 0) return fail(error)
    }
    connected(false)
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
  }

  function connected(isConnected: boolean): void {
    const state = current()
    if (!signal.aborted && state.kind === 'following' && state.isConnected !== isConnected)
      set({ ...state, isConnected })
  }
}

const notUnderstood = (error: unknown): ApiError =>
  new ApiError(
    200,
    'BAD_EVENTS',
    `what the server tells of this rollout does not fit together: ${error instanceof Error ? error.message : error}`,
    'Reload the page: the trajectory is stored, as far as it was recorded.',
  )
