/** The group of samples that is open in the page. The code that follows its events is loaded with the first group. */
import type { GroupLine } from '#lib/api/group-line.ts'
import { type SampleProgress, WAITING } from '#lib/api/sample-progress.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { ApiError } from '../api.ts'
import { createStore } from '../store.ts'
import type { FollowedGroup } from './follow-group.ts'

/** A sample of a followed group. */
export interface LiveSample {
  /** Undefined until the sample has begun. */
  readonly rolloutId: string | undefined
  readonly progress: SampleProgress
  /** Result of the group's rule; undefined until the sample has ended, and without a rule. */
  readonly scored: GroupLine['scored'] | undefined
}

/** State of the open group. */
export type GroupState =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'following' | 'ended'
      readonly groupId: string
      readonly samples: readonly LiveSample[]
      readonly isConnected: boolean
      /** Trajectory of the shown sample; undefined if none is shown, or if it has not begun. */
      readonly trajectory: TrajectoryView | undefined
    }
  /** The group ended without a reader, or cannot be followed any more; the stored samples have the current state. */
  | { readonly kind: 'unavailable'; readonly groupId: string; readonly error: ApiError | undefined }

/** Access to the open group. */
export interface GroupStore {
  subscribe(listener: () => void): () => void
  state(): GroupState
  follow(groupId: string, samples: number): void
  /** Selects the sample that is folded to a view. */
  show(sample: number | undefined): void
  /** Ignores further events of a sample that continues by itself, since the group has only its earlier ones. */
  leaveOut(sample: number): void
  reset(): void
}

const UNBEGUN: LiveSample = { rolloutId: undefined, progress: WAITING, scored: undefined }

/** Returns a store without a group. `nextFrame` runs an action before the next frame is drawn. */
export function createGroupStore(nextFrame: (action: () => void) => void): GroupStore {
  const { subscribe, state, set } = createStore<GroupState>({ kind: 'idle' })
  let leave = new AbortController()
  let followed: FollowedGroup | undefined
  let shownSample: number | undefined
  return {
    subscribe,
    state,
    follow(groupId, count) {
      leave.abort()
      const controller = new AbortController()
      leave = controller
      followed = undefined
      const samples = Array.from({ length: count }, () => UNBEGUN)
      set({ kind: 'following', groupId, samples, isConnected: true, trajectory: undefined })
      import('./follow-group.ts').then(
        ({ followGroup }) => {
          if (controller.signal.aborted) return
          followed = followGroup(groupId, count, { shownSample, controller, nextFrame, state, set })
        },
        () => {
          if (!controller.signal.aborted) set({ kind: 'unavailable', groupId, error: undefined })
        },
      )
    },
    show(sample) {
      if (shownSample === sample) return
      shownSample = sample
      followed?.show(sample)
    },
    leaveOut: (sample) => followed?.leaveOut(sample),
    reset() {
      leave.abort()
      followed = undefined
      if (state().kind !== 'idle') set({ kind: 'idle' })
    },
  }
}
