import { type VocabularyWriter, vocabularyTexts, vocabularyWriter } from '#lib/rollout/record/record.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import type { LiveTrajectory, RolloutEvent } from '#lib/trajectory/events/events.ts'
import { createFold } from '#lib/trajectory/events/fold.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'

/** The growing trajectory: every part of a run reads it here, and changes it only through here. */
export interface Recorder {
  readonly trajectory: LiveTrajectory
  /** Collects the texts that events must bring with them. */
  readonly newVocabulary: VocabularyWriter
  emit(event: RolloutEvent): void
}

/**
 * Creates a recorder; `tokenizer` is the run's. By default the vocabulary of a new trajectory is that of the tokenizer, which is read
 * fastest. An empty `fold` collects the texts of the trajectory only.
 */
export function createRecorder(
  rolloutId: string,
  start: Trajectory,
  tokenizer: Tokenizer,
  publish: (event: RolloutEvent) => void,
  fold = createFold(isNew(start) ? vocabularyTexts(tokenizer) : undefined),
): Recorder {
  const recorder: Recorder = {
    get trajectory() {
      return fold.trajectory as LiveTrajectory
    },
    newVocabulary: vocabularyWriter(start, tokenizer),
    emit(event) {
      fold.add(event)
      publish(event)
    },
  }
  recorder.emit({ type: 'started', rolloutId, trajectory: { ...start, outcome: { kind: 'running', rolloutId } } })
  return recorder
}

/** A continued trajectory may give an id another text. */
const isNew = ({ vocab }: Trajectory): boolean => Object.keys(vocab).length === 0
