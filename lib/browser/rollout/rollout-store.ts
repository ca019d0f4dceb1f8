/** The rollout that is open in the page. The code that follows its events is loaded with the first rollout. */
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { ApiError } from '../api.ts'
import { createStore } from '../store.ts'

/** State of the rollout; `key` is the key under which its trajectory is stored. */
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
  /** The rollout ended without a reader, or its events cannot be followed; the stored trajectory says how it ended. */
  | { readonly kind: 'unavailable'; readonly key: string }
  /** The rollout cannot be followed any more, but may continue on the server. The trajectory has the events so far. */
  | {
      readonly kind: 'failed'
      readonly key: string
      readonly error: ApiError
      readonly trajectory: TrajectoryView | undefined
    }

/** State of a rollout that is not followed any more. */
export type SettledRollout = Extract<RolloutState, { kind: 'ended' | 'unavailable' | 'failed' }>

/** Access to the open rollout. */
export interface RolloutStore {
  subscribe(listener: () => void): () => void
  state(): RolloutState
  /** Follows a rollout. `path` is that of its events, if it is no rollout of the playground. */
  follow(rolloutId: string, key: string, path?: string): void
  /** Stops following; the rollout continues on the server. */
  reset(): void
}

/**
 * Returns a store without a rollout. `nextFrame` runs an action before the next frame is drawn; `onSettled` is called once for
 * each rollout that ends or cannot be followed any more.
 */
export function createRolloutStore(
  nextFrame: (action: () => void) => void,
  onSettled: (state: SettledRollout) => void = () => {},
): RolloutStore {
  const { subscribe, state, set } = createStore<RolloutState>({ kind: 'idle' })
  let leave = new AbortController()
  return {
    subscribe,
    state,
    reset() {
      leave.abort()
      set({ kind: 'idle' })
    },
    follow(rolloutId, key, path = `/api/rollouts/${encodeURIComponent(rolloutId)}/events`) {
      leave.abort()
      leave = new AbortController()
      set({ kind: 'following', key, rolloutId, trajectory: undefined, isConnected: true })
      const settle = (settled: SettledRollout) => {
        set(settled)
        onSettled(settled)
      }
      const { signal } = leave
      import('./follow-rollout.ts').then(
        ({ followRollout }) => {
          if (!signal.aborted) followRollout(path, key, { signal, nextFrame, current: state, set, settle })
        },
        () => {
          if (!signal.aborted) settle({ kind: 'unavailable', key })
        },
      )
    },
  }
}
