/** The prompt that the model read before a response: the tokens before it, unless a server tokenized messages again. */

import { elementAt } from '#lib/util/element-at.ts'
import type { SegmentView } from '../tokens/trajectory-view.ts'

/** Returns how a response's prompt differs from the tokens before it, or undefined if it does not. */
export const readOf = (segment: SegmentView) => (segment.kind === 'response' ? segment.request?.read : undefined)

/**
 * Returns the ids that the model read before `segment`, given the ids of the whole trajectory and the number of tokens
 * before the segment.
 */
export function promptOf(ids: ArrayLike<number>, segment: SegmentView, before: number): Int32Array {
  const read = readOf(segment)
  const sharedLength = read?.kept ?? before
  const prompt = new Int32Array(sharedLength + (read?.ids.length ?? 0))
  for (let index = 0; index < sharedLength; index++) prompt[index] = elementAt(ids, index)
  if (read) prompt.set(read.ids, sharedLength)
  return prompt
}
