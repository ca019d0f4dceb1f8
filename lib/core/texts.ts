/** Files of trainers hold ids alone: a tokenizer that is chosen afterwards gives them their texts. */
import type { Trajectory } from './trajectory.ts'

/** Whether a token is there whose text nobody knows. */
export const lacksTexts = ({ model, segments, vocab }: Trajectory): boolean =>
  !model.tokenizer && segments.some(({ ids }) => ids.some((id) => !Object.hasOwn(vocab, id)))

/** Whether a tokenizer may be chosen, or another one: what a run has rendered itself is not a matter of choice. */
export const takesTokenizer = (trajectory: Trajectory): boolean =>
  !trajectory.model.template && (trajectory.provenance.kind === 'import' || lacksTexts(trajectory))
