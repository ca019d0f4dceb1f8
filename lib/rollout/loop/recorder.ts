import {
  growingVocabulary,
  type VocabularyWriter,
  vocabularyTexts,
  vocabularyWriter,
} from '#lib/rollout/record/record.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { LiveTrajectory, RolloutEvent } from '#lib/trajectory/events/events.ts'
import { createFold, type Fold } from '#lib/trajectory/events/fold.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'

/** The growing trajectory: every part of a run reads it here, and changes it only through here. */
export interface Recorder {
  readonly trajectory: LiveTrajectory
  /** Collects the texts that events must bring with them. */
  readonly newVocabulary: VocabularyWriter
  emit(event: RolloutEvent): void
}

/** Creates a recorder; `tokenizer` is the run's. */
export function createRecorder(
  rolloutId: string,
  start: Trajectory,
  tokenizer: Tokenizer,
  publish: (event: RolloutEvent) => void,
): Recorder {
  // A continued trajectory may give an id another text.
  const isNew = Object.keys(start.vocab).length === 0
  const fold = createFold(isNew ? vocabularyTexts(tokenizer) : undefined)
  return recorderOf(rolloutId, start, fold, vocabularyWriter(start, tokenizer), publish)
}

/**
 * Creates a recorder that adds texts to the vocabulary of `start` itself: a caller that continues one trajectory again and again has no copy
 * for each continuation.
 */
export const createGrowingRecorder = (
  rolloutId: string,
  start: Trajectory,
  tokenizer: Tokenizer,
  publish: (event: RolloutEvent) => void,
): Recorder => recorderOf(rolloutId, start, createFold(start.vocab), growingVocabulary(start, tokenizer), publish)

function recorderOf(
  rolloutId: string,
  start: Trajectory,
  fold: Fold,
  newVocabulary: VocabularyWriter,
  publish: (event: RolloutEvent) => void,
): Recorder {
  const recorder: Recorder = {
    get trajectory() {
      return fold.trajectory as LiveTrajectory
    },
    newVocabulary,
    emit(event) {
      fold.add(event)
      publish(event)
    },
  }
  const outcome = start.outcome.kind === 'running' ? start.outcome : ({ kind: 'running' } as const)
  recorder.emit({ type: 'started', rolloutId, trajectory: { ...start, outcome: { ...outcome, rolloutId } } })
  return recorder
}
