/**
 * The group of samples that is open in the page. One stream brings the events of all; the sample that is shown is folded to
 * a view once a frame, of the others only counters are kept up, and their events are folded when they are shown.
 */

import type { GroupLine } from '#lib/api/group-line.ts'
import { progressed, type SampleProgress, WAITING } from '#lib/api/sample-progress.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import { createGrowth, type Growth } from '#lib/trajectory/events/growth.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { ApiError } from '../api.ts'
import { followLines, notUnderstood } from './follow-lines.ts'

export interface LiveSample {
  /** Undefined until it has begun. */
  readonly rolloutId: string | undefined
  readonly progress: SampleProgress
  /** What its rule has found; undefined until it has ended, and without a rule. */
  readonly scored: GroupLine['scored'] | undefined
}

export type GroupState =
  | { readonly kind: 'idle' }
  | {
      readonly kind: 'following' | 'ended'
      readonly groupId: string
      readonly samples: readonly LiveSample[]
      readonly isConnected: boolean
      /** Of the sample that is shown; undefined where none is, or where it has not begun. */
      readonly trajectory: TrajectoryView | undefined
    }
  /** It ended while nobody listened, or cannot be followed any more: what is stored says how it stands. */
  | { readonly kind: 'gone'; readonly groupId: string; readonly error: ApiError | undefined }

export interface GroupStore {
  subscribe(listener: () => void): () => void
  state(): GroupState
  follow(groupId: string, samples: number): void
  /** Which sample is folded to a view. */
  show(sample: number | undefined): void
  /** It goes on by itself: what the group tells of it is what was. */
  leaveOut(sample: number): void
  reset(): void
}

/** `nextFrame` runs an action before the next picture is drawn. */
export function createGroupStore(nextFrame: (action: () => void) => void): GroupStore {
  const listeners = new Set<() => void>()
  let current: GroupState = { kind: 'idle' }
  let leave = new AbortController()
  let folds: SampleFold[] = []
  let shown: number | undefined
  let isDue = false

  const set = (state: GroupState) => {
    current = state
    for (const listener of listeners) listener()
  }
  const draw = () => {
    isDue = false
    if (current.kind !== 'following' && current.kind !== 'ended') return
    try {
      const samples = current.samples.map((before, index) => folds[index]?.told ?? before)
      const hasEnded = samples.every(({ progress }) => progress.state === 'ended')
      const trajectory = shown === undefined ? undefined : folds[shown]?.trajectory()
      if (current.kind === 'ended') return set({ ...current, trajectory })
      set({ ...current, kind: hasEnded ? 'ended' : 'following', samples, trajectory })
    } catch (error) {
      leave.abort()
      set({ kind: 'gone', groupId: current.groupId, error: notUnderstood(error) })
    }
  }
  const drawSoon = () => {
    if (!isDue) nextFrame(draw)
    isDue = true
  }
  return {
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    state: () => current,
    follow(groupId, count) {
      leave.abort()
      leave = new AbortController()
      const { signal } = leave
      folds = Array.from({ length: count }, createSampleFold)
      const samples = folds.map(({ told }) => told)
      set({ kind: 'following', groupId, samples, isConnected: true, trajectory: undefined })
      let running = count
      void followLines({
        path: `/api/groups/${encodeURIComponent(groupId)}/events`,
        signal,
        schema: async () => (await import('#lib/api/group-line.ts')).groupLineReader,
        onLine({ sample, event, scored }) {
          if (!folds[sample]) return 'more'
          folds[sample].add(event, scored)
          if (event.type === 'ended') running--
          drawSoon()
          return running > 0 ? 'more' : 'done'
        },
        onConnected(isConnected) {
          if (current.kind === 'following' && current.isConnected !== isConnected) set({ ...current, isConnected })
        },
        onGone: (error) => set({ kind: 'gone', groupId, error }),
      })
    },
    show(sample) {
      if (shown === sample) return
      shown = sample
      // At once: the sample before it is not to be seen under the name of this one.
      draw()
    },
    leaveOut(sample) {
      folds[sample]?.close()
      draw()
    },
    reset() {
      leave.abort()
      folds = []
      if (current.kind !== 'idle') set({ kind: 'idle' })
    },
  }
}

interface SampleFold {
  add(event: RolloutEvent, scored: GroupLine['scored']): void
  readonly told: LiveSample
  /** Folds what has come since. */
  trajectory(): TrajectoryView | undefined
  /** There is nothing to be shown of it any more. */
  close(): void
}

function createSampleFold(): SampleFold {
  let told: LiveSample = { rolloutId: undefined, progress: WAITING, scored: undefined }
  let growth: Growth | undefined
  let unfolded: RolloutEvent[] = []
  let isClosed = false
  return {
    add(event, scored) {
      unfolded.push(event)
      told = {
        rolloutId: event.type === 'started' ? event.rolloutId : told.rolloutId,
        progress: progressed(told.progress, event),
        scored: scored ?? told.scored,
      }
    },
    get told() {
      return told
    },
    trajectory() {
      if (isClosed) return undefined
      growth ??= createGrowth()
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
