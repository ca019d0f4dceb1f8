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

/** Returns how the ids were encoded from the messages of a file without ids; undefined if they are ids of the file or of a run. */
export const encodingOf = ({ provenance }: TrajectoryView): EncodedAgain | undefined =>
  provenance.kind === 'import' ? provenance.encodedAgain : undefined

type EncodedAgain = NonNullable<Extract<TrajectoryView['provenance'], { kind: 'import' }>['encodedAgain']>

/**
 * Returns whether a tokenizer encodes the messages: there are no ids, or ids of such an encoding. Numbers that a trainer added for its
 * ids prevent it.
 */
export const takesEncoding = (trajectory: TrajectoryView): boolean =>
  isTextOnly(trajectory) ||
  (encodingOf(trajectory) !== undefined && trajectory.segments.every(({ columns }) => columns === undefined))

/** Returns whether the user may choose a tokenizer or replace it; not for a prompt that a run rendered itself. */
export const takesTokenizer = (trajectory: TrajectoryView): boolean =>
  takesEncoding(trajectory) ||
  (encodingOf(trajectory) === undefined &&
    !trajectory.model.template &&
    (trajectory.provenance.kind === 'import' || lacksTexts(trajectory)))
