import { applyEvent, type LiveTrajectory, type RolloutEvent } from '#lib/core/events.ts'

/** The trajectory as it grows: what every part of a run reads, and the only way in which it changes. */
export interface Recorder {
  readonly trajectory: LiveTrajectory
  emit(event: RolloutEvent): void
}

export function createRecorder(
  rolloutId: string,
  start: LiveTrajectory,
  publish: (event: RolloutEvent) => void,
): Recorder {
  let trajectory = start
  const recorder: Recorder = {
    get trajectory() {
      return trajectory
    },
    emit(event) {
      trajectory = applyEvent(trajectory, event)
      publish(event)
    },
  }
  recorder.emit({ type: 'started', rolloutId, trajectory: { ...start, outcome: { kind: 'running', rolloutId } } })
  return recorder
}
