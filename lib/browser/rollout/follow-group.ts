/**
 * Follows the group of samples that is open in the page. One stream contains the events of all samples. The shown sample is folded to a view
 * once a frame; the others have only counters, and their events are folded when they are shown.
 */
import { type GroupLine, groupLineReader } from '#lib/api/group-line.ts'
import { applyToProgress, WAITING } from '#lib/api/sample-progress.ts'
import type { RolloutEvent } from '#lib/trajectory/events/events.ts'
import { createGrowth, type Growth } from '#lib/trajectory/events/growth.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { followLines, notUnderstood } from './follow-lines.ts'
import type { GroupState, LiveSample } from './group-store.ts'

interface Following {
  /** The sample that is folded to a view at first. */
  readonly shownSample: number | undefined
  /** Ends the following. */
  readonly controller: AbortController
  readonly nextFrame: (action: () => void) => void
  readonly state: () => GroupState
  readonly set: (state: GroupState) => void
}

/** A group whose events are followed. */
export interface FollowedGroup {
  /** Selects the sample that is folded to a view. */
  show(sample: number | undefined): void
  /** Ignores further events of a sample. */
  leaveOut(sample: number): void
}

/** Follows the events of a group with `count` samples. */
export function followGroup(
  groupId: string,
  count: number,
  { shownSample: firstShown, controller, nextFrame, state, set }: Following,
): FollowedGroup {
  const folds = Array.from({ length: count }, createSampleFold)
  let shownSample = firstShown
  let isDue = false
  let running = count

  const draw = () => {
    isDue = false
    const current = state()
    if (controller.signal.aborted || (current.kind !== 'following' && current.kind !== 'ended')) return
    try {
      const samples = current.samples.map((before, index) => folds[index]?.liveSample ?? before)
      const hasEnded = samples.every(({ progress }) => progress.state === 'ended')
      const trajectory = shownSample === undefined ? undefined : folds[shownSample]?.trajectory()
      if (current.kind === 'ended') return set({ ...current, trajectory })
      set({ ...current, kind: hasEnded ? 'ended' : 'following', samples, trajectory })
    } catch (error) {
      controller.abort()
      set({ kind: 'unavailable', groupId, error: notUnderstood(error) })
    }
  }
  const drawSoon = () => {
    if (!isDue) nextFrame(draw)
    isDue = true
  }
  void followLines({
    path: `/api/groups/${encodeURIComponent(groupId)}/events`,
    signal: controller.signal,
    schema: groupLineReader,
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
  return {
    show(sample) {
      shownSample = sample
      // The view changes at once, because the previous sample must not appear under the name of this one.
      draw()
    },
    leaveOut(sample) {
      folds[sample]?.close()
      draw()
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

function createSampleFold(): SampleFold {
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
