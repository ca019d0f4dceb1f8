/** Follows the events of the rollout that is open in the page, and continues after a lost connection with the next event. */
import { eventReader } from '#lib/trajectory/events/event-reader.ts'
import { createGrowth } from '#lib/trajectory/events/growth.ts'
import type { ApiError } from '../api.ts'
import { followLines, notUnderstood } from './follow-lines.ts'
import type { RolloutState, SettledRollout } from './rollout-store.ts'

interface FollowedRollout {
  readonly signal: AbortSignal
  readonly nextFrame: (action: () => void) => void
  readonly current: () => RolloutState
  readonly set: (state: RolloutState) => void
  /** Ends the following with its last state. */
  readonly settle: (state: SettledRollout) => void
}

/** Follows the events of a rollout, applies them with the shared reducer, and shows them once a frame. */
export function followRollout(
  path: string,
  key: string,
  { signal, nextFrame, current, set, settle }: FollowedRollout,
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
    schema: eventReader,
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
    onUnavailable: (error) => (error ? fail(error) : settle({ kind: 'unavailable', key })),
  })
}
