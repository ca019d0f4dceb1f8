/** Trainer files may contain only ids; a tokenizer that the user chooses later provides the texts. */
import type { TrajectoryView } from './trajectory-view.ts'

/** Returns whether the text of any token is unknown. */
export const lacksTexts = ({ model, segments, vocab }: TrajectoryView): boolean =>
  !model.tokenizer && segments.some(({ ids }) => Array.from(ids).some((id) => !Object.hasOwn(vocab, id)))

/** Returns whether an imported file had messages and no token ids. */
export const isTextOnly = ({ provenance, segments }: TrajectoryView): boolean =>
  provenance.kind === 'import' &&
  segments.every(({ ids }) => ids.length === 0) &&
  segments.some((segment) => (segment.kind === 'prompt' ? segment.messages.length > 0 : segment.message !== undefined))

/** Returns whether the user may choose a tokenizer for the ids or replace it; not for a prompt that a run rendered itself. */
export const takesTokenizer = (trajectory: TrajectoryView): boolean =>
  !isTextOnly(trajectory) &&
  !trajectory.model.template &&
  (trajectory.provenance.kind === 'import' || lacksTexts(trajectory))
