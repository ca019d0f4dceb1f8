/** Files of trainers hold ids alone: a tokenizer that is chosen afterwards gives them their texts. */
import type { TrajectoryView } from './trajectory-view.ts'

/** Whether a token is there whose text nobody knows. */
export const lacksTexts = ({ model, segments, vocab }: TrajectoryView): boolean =>
  !model.tokenizer && segments.some(({ ids }) => Array.from(ids).some((id) => !Object.hasOwn(vocab, id)))

/** Whether a tokenizer may be chosen, or another one: what a run has rendered itself is not a matter of choice. */
export const takesTokenizer = (trajectory: TrajectoryView): boolean =>
  !trajectory.model.template && (trajectory.provenance.kind === 'import' || lacksTexts(trajectory))
