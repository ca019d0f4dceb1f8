/**
 * The rollout that is open in the page: follows its events, applies them once a frame with the same reducer as
 * everywhere, and comes back after a lost connection at the event where it left.
 */
import { applyEvent, type LiveTrajectory, mergeTokens, type RolloutEvent } from '#lib/core/events.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'
import { ApiError, callApi, lines } from './api.ts'

export type RolloutState =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'following'
      readonly rolloutId: string
      readonly trajectory: LiveTrajectory | undefined
      readonly isConnected: boolean
    }
  | { readonly kind: 'ended'; readonly trajectory: Trajectory }
  /** It ended while nobody listened: the stored trajectory says how. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'failed'; readonly error: ApiError }

export interface RolloutStore {
  subscribe(listener: () => void): () => void
  state(): RolloutState
  follow(rolloutId: string): void
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
    follow(rolloutId) {
      leave.abort()
      leave = new AbortController()
      set({ kind: 'following', rolloutId, trajectory: undefined, isConnected: true })
      followUntilEnd(rolloutId, leave.signal, nextFrame, () => current, set)
    },
  }
}

async function followUntilEnd(
  rolloutId: string,
  signal: AbortSignal,
  nextFrame: (action: () => void) => void,
  current: () => RolloutState,
  set: (state: RolloutState) => void,
): Promise<void> {
  let received = 0
  let waiting: RolloutEvent[] = []
  const apply = () => {
    const events = waiting
    waiting = []
    const state = current()
    if (signal.aborted || state.kind !== 'following') return
    const trajectory = merged(events).reduce<LiveTrajectory | undefined>(applyEvent, state.trajectory)
    if (events.at(-1)?.type === 'ended' && trajectory) set({ kind: 'ended', trajectory })
    else set({ ...state, trajectory })
  }
  while (!signal.aborted) {
    try {
      const response = await callApi(`/api/rollouts/${encodeURIComponent(rolloutId)}/events?from=${received}`, {
        signal,
      })
      connected(true)
      for await (const event of lines(response) as AsyncIterable<RolloutEvent>) {
        received++
        if (waiting.length === 0) nextFrame(apply)
        waiting.push(event)
        if (event.type === 'ended') return
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && error.status === 404) return set({ kind: 'gone' })
      if (error instanceof ApiError && error.status !== 0) return set({ kind: 'failed', error })
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

/** Neighbouring token events as one: what has piled up since the last frame is applied in one go. */
function merged(events: readonly RolloutEvent[]): RolloutEvent[] {
  const list: RolloutEvent[] = []
  for (const event of events) {
    const last = list.at(-1)
    if (event.type === 'tokens' && last?.type === 'tokens') list[list.length - 1] = mergeTokens(last, event)
    else list.push(event)
  }
  return list
}
