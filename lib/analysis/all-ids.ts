import { segmentsOf, tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { memoizeByIdentity } from '#lib/util/memoize.ts'

/** Returns the ids of all tokens in the order in which the model read or sampled them. The result is memoized: do not change it. */
export const allIds = memoizeByIdentity((trajectory: TrajectoryView): Int32Array => {
  const ids = new Int32Array(tokenCount(trajectory))
  let start = 0
  for (const segment of segmentsOf(trajectory)) {
    ids.set(segment.ids, start)
    start += segment.ids.length
  }
  return ids
})
