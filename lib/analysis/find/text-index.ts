/** Builds the text of all tokens as the model read and sampled them, with the offset of each token. */

import { textWithStarts } from '#lib/trajectory/tokens/pieces.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'
import { allIds } from '../all-ids.ts'
import { foldedText } from './folded-text.ts'

/** Text of a trajectory for searching. */
export interface TextIndex {
  readonly text: string
  /** The text in lower case, with the same length and offsets. */
  readonly folded: string
  /** UTF-16 offset of each token, and the length of the text last. */
  readonly starts: Int32Array
  /** UTF-16 offset at which each token ends. Undefined: each token ends where the next one starts. */
  readonly ends: Int32Array | undefined
}

/** Returns the index of a trajectory, memoized. It takes 20 ms for 200,000 tokens. Segments are joined without separators. */
export const textIndex = memoizeByIdentity((trajectory: TrajectoryView): TextIndex => {
  const { text, starts, ends } = textWithStarts(allIds(trajectory), trajectory.vocab)
  return { text, folded: foldedText(text), starts: Int32Array.from(starts), ends: ends && Int32Array.from(ends) }
})
