import type { LiveTrajectory, RolloutEvent } from '#lib/core/events.ts'
import { createFold } from '#lib/core/fold.ts'
import type { Trajectory } from '#lib/core/trajectory.ts'

/** The trajectory as it grows: what every part of a run reads, and the only way in which it changes. */
export interface Recorder {
  readonly trajectory: LiveTrajectory
  emit(event: RolloutEvent): void
}

export function createRecorder(rolloutId: string, start: Trajectory, publish: (event: RolloutEvent) => void): Recorder {
  const fold = createFold()
  const recorder: Recorder = {
    get trajectory() {
      return fold.trajectory as LiveTrajectory
    },
    emit(event) {
      fold.add(event)
      publish(event)
    },
  }
  recorder.emit({ type: 'started', rolloutId, trajectory: { ...start, outcome: { kind: 'running', rolloutId } } })
  return recorder
}
