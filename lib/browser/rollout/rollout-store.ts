/**
 * The rollout that is open in the page: follows its events, applies them with the same reducer as everywhere and
 * shows them once a frame, and comes back after a lost connection at the event where it left.
 */
import { createGrowth } from '#lib/trajectory/events/growth.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { ApiError } from '../api.ts'
import { followLines, notUnderstood } from './follow-lines.ts'

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

function followUntilEnd(
  rolloutId: string,
  key: string,
  signal: AbortSignal,
  nextFrame: (action: () => void) => void,
  current: () => RolloutState,
  set: (state: RolloutState) => void,
): void {
  const growth = createGrowth()
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
  void followLines({
    path: `/api/rollouts/${encodeURIComponent(rolloutId)}/events`,
    signal,
    schema: async () => (await import('#lib/trajectory/events/event-reader.ts')).eventReader,
    onLine(event) {
      growth.add(event)
      hasEnded = event.type === 'ended'
      if (!isDue) nextFrame(draw)
      isDue = true
      return hasEnded ? 'done' : 'more'
    },
    onConnected(isConnected) {
      const state = current()
      if (state.kind === 'following' && state.isConnected !== isConnected) set({ ...state, isConnected })
    },
    onGone: (error) => (error ? fail(error) : set({ kind: 'gone', key })),
  })
}
