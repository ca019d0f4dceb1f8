/**
 * The group of samples that is open in the page. One stream contains the events of all samples. The shown sample is folded to a view once a
 * frame; the others have only counters, and their events are folded when they are shown.
 */

import type { GroupLine } from '#lib/api/group-line.ts'
import { applyToProgress, type SampleProgress, WAITING } from '#lib/api/sample-progress.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import type { Growth } from '#lib/trajectory/events/growth.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { ApiError } from '../api.ts'
import { createStore } from '../store.ts'
import { followLines, notUnderstood } from './follow-lines.ts'

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

/** Returns a store without a group. `nextFrame` runs an action before the next frame is drawn. */
export function createGroupStore(nextFrame: (action: () => void) => void): GroupStore {
  const { subscribe, state, set } = createStore<GroupState>({ kind: 'idle' })
  let leave = new AbortController()
  let folds: SampleFold[] = []
  /** Undefined until its code is loaded, which precedes the first event. */
  let createGrowth: (() => Growth) | undefined
  let shownSample: number | undefined
  let isDue = false

  const draw = () => {
    isDue = false
    const current = state()
    if (current.kind !== 'following' && current.kind !== 'ended') return
    try {
      const samples = current.samples.map((before, index) => folds[index]?.liveSample ?? before)
      const hasEnded = samples.every(({ progress }) => progress.state === 'ended')
      const trajectory = shownSample === undefined ? undefined : folds[shownSample]?.trajectory()
      if (current.kind === 'ended') return set({ ...current, trajectory })
      set({ ...current, kind: hasEnded ? 'ended' : 'following', samples, trajectory })
    } catch (error) {
      leave.abort()
      set({ kind: 'unavailable', groupId: current.groupId, error: notUnderstood(error) })
    }
  }
  const drawSoon = () => {
    if (!isDue) nextFrame(draw)
    isDue = true
  }
  return {
    subscribe,
    state,
    follow(groupId, count) {
      leave.abort()
      leave = new AbortController()
      const { signal } = leave
      folds = Array.from({ length: count }, () => createSampleFold(() => createGrowth?.()))
      const samples = folds.map(({ liveSample }) => liveSample)
      set({ kind: 'following', groupId, samples, isConnected: true, trajectory: undefined })
      let running = count
      void followLines({
        path: `/api/groups/${encodeURIComponent(groupId)}/events`,
        signal,
        schema: async () => {
          const [{ groupLineReader }, growing] = await Promise.all([
            import('#lib/api/group-line.ts'),
            import('#lib/trajectory/events/growth.ts'),
          ])
          createGrowth = growing.createGrowth
          return groupLineReader
        },
        onLine({ sample, event, scored }) {
          if (!folds[sample]) return 'more'
          folds[sample].add(event, scored)
          if (event.type === 'ended') running--
          drawSoon()
          return running > 0 ? 'more' : 'done'
        },
        onConnected(isConnected) {
          const current = state()
          if (current.kind === 'following' && current.isConnected !== isConnected) set({ ...current, isConnected })
        },
        onUnavailable: (error) => set({ kind: 'unavailable', groupId, error }),
      })
    },
    show(sample) {
      if (shownSample === sample) return
      shownSample = sample
      // The view changes at once, because the previous sample must not appear under the name of this one.
      draw()
    },
    leaveOut(sample) {
      folds[sample]?.close()
      draw()
    },
    reset() {
      leave.abort()
      folds = []
      if (state().kind !== 'idle') set({ kind: 'idle' })
    },
  }
}

interface SampleFold {
  add(event: RolloutEvent, scored: GroupLine['scored']): void
  readonly liveSample: LiveSample
  /** Folds the new events and returns the view. */
  trajectory(): TrajectoryView | undefined
  /** Ends the view; it is not shown any more. */
  close(): void
}

function createSampleFold(createGrowth: () => Growth | undefined): SampleFold {
  let liveSample: LiveSample = { rolloutId: undefined, progress: WAITING, scored: undefined }
  let growth: Growth | undefined
  let unfolded: RolloutEvent[] = []
  let isClosed = false
  return {
    add(event, scored) {
      unfolded.push(event)
      liveSample = {
        rolloutId: event.type === 'started' ? event.rolloutId : liveSample.rolloutId,
        progress: applyToProgress(liveSample.progress, event),
        scored: scored ?? liveSample.scored,
      }
    },
    get liveSample() {
      return liveSample
    },
    trajectory() {
      if (isClosed) return undefined
      growth ??= createGrowth()
      if (!growth) return undefined
      for (const event of unfolded) growth.add(event)
      unfolded = []
      return growth.trajectory
    },
    close() {
      isClosed = true
      growth = undefined
    },
  }
}
