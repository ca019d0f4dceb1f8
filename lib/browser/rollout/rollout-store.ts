/**
 * The rollout that is open in the page: follows its events, applies them with the shared reducer, shows them once a frame, and continues
 * after a lost connection with the next event.
 */
import type { Growth } from '#lib/trajectory/events/growth.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { ApiError } from '../api.ts'
import { createStore } from '../store.ts'
import { followLines, notUnderstood } from './follow-lines.ts'

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
  /** The rollout ended without a reader; the stored trajectory says how. */
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
      followUntilEnd(path, key, { signal: leave.signal, nextFrame, current: state, set, settle })
    },
  }
}

interface Following {
  readonly signal: AbortSignal
  readonly nextFrame: (action: () => void) => void
  readonly current: () => RolloutState
  readonly set: (state: RolloutState) => void
  /** Ends the following with its last state. */
  readonly settle: (state: SettledRollout) => void
}

function followUntilEnd(path: string, key: string, { signal, nextFrame, current, set, settle }: Following): void {
  let growth: Growth | undefined
  let isDue = false
  let hasEnded = false
  const draw = () => {
    isDue = false
    const state = current()
    if (signal.aborted || state.kind !== 'following') return
    try {
      const trajectory = growth?.trajectory
      if (hasEnded && trajectory) settle({ kind: 'ended', key, trajectory })
      else set({ ...state, trajectory })
    } catch (error) {
      fail(notUnderstood(error))
    }
  }
  const fail = (error: ApiError) => {
    const state = current()
    settle({ kind: 'failed', key, error, trajectory: state.kind === 'following' ? state.trajectory : undefined })
  }
  void followLines({
    path,
    signal,
    schema: async () => {
      const [{ eventReader }, { createGrowth }] = await Promise.all([
        import('#lib/trajectory/events/event-reader.ts'),
        import('#lib/trajectory/events/growth.ts'),
      ])
      growth ??= createGrowth()
      return eventReader
    },
    onLine(event) {
      growth?.add(event)
      hasEnded = event.type === 'ended'
      if (!isDue) nextFrame(draw)
      isDue = true
      return hasEnded ? 'done' : 'more'
    },
    onConnected(isConnected) {
      const state = current()
      if (state.kind === 'following' && state.isConnected !== isConnected) set({ ...state, isConnected })
    },
    onUnavailable: (error) => (error ? fail(error) : settle({ kind: 'unavailable', key })),
  })
}
