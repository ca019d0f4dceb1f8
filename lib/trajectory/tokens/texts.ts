/** Trainer files may contain only ids; a tokenizer that the user chooses later provides the texts. */
import type { TrajectoryView } from './trajectory-view.ts'

/** Returns whether the text of any token is unknown. */
export const lacksTexts = ({ model, segments, vocab }: TrajectoryView): boolean =>
  !model.tokenizer && segments.some(({ ids }) => Array.from(ids).some((id) => !Object.hasOwn(vocab, id)))

/** Returns whether the user may choose a tokenizer or replace it; not for a prompt that a run rendered itself. */
export const takesTokenizer = (trajectory: TrajectoryView): boolean =>
  !trajectory.model.template && (trajectory.provenance.kind === 'import' || lacksTexts(trajectory))
