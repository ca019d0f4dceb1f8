import { segmentsOf, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'

/** The ids of all tokens, as the model has read and written them. */
export const allIds = memoizeByIdentity((trajectory: TrajectoryView): Int32Array => {
  const ids = new Int32Array(tokenCount(trajectory))
  let start = 0
  for (const segment of segmentsOf(trajectory)) {
    ids.set(segment.ids, start)
    start += segment.ids.length
  }
  return ids
})
