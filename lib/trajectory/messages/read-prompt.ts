/** What the model read before a response: the tokens before it, but for a server that tokenized messages anew. */

import { elementAt } from '#lib/util/element-at.ts'
import type { SegmentView } from '../tokens/trajectory-view.ts'

/** How a response's prompt differs from the tokens before it; undefined: it does not. */
export const readOf = (segment: SegmentView) => (segment.kind === 'response' ? segment.request?.read : undefined)

/** Of the ids of a whole trajectory, the ids that the model read before `segment`, which stands behind the first `before`. */
export function promptOf(ids: ArrayLike<number>, segment: SegmentView, before: number): Int32Array {
  const read = readOf(segment)
  const kept = read?.kept ?? before
  const prompt = new Int32Array(kept + (read?.ids.length ?? 0))
  for (let index = 0; index < kept; index++) prompt[index] = elementAt(ids, index)
  if (read) prompt.set(read.ids, kept)
  return prompt
}
