/** From hit to hit. Hits are flat pairs of tokens, half-open and sorted; they are counted from 0. */

import { rangeOf, type Selection } from '#components/token-view/selection.ts'
import { firstRangeAfter } from '#components/token-view/token-marks.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'

/** The hit that is chosen, exactly; undefined: none is. */
export function chosenHit(hits: Int32Array, selection: Selection | undefined): number | undefined {
  if (!selection) return undefined
  const { start, end } = rangeOf(selection)
  const hit = firstRangeAfter(hits, start)
  return hits[2 * hit] === start && hits[2 * hit + 1] === end ? hit : undefined
}

interface Step {
  readonly hit: number
  /** The search continued from the other end. */
  readonly isAround: boolean
}

/** The next hit, or the one before, from what is chosen; from the first token in sight where nothing is. Undefined: there are none. */
export function stepFrom(
  hits: Int32Array,
  selection: Selection | undefined,
  inSight: Span | undefined,
  direction: 1 | -1,
): Step | undefined {
  const count = hits.length >> 1
  if (count === 0) return undefined
  const from = selection ? rangeOf(selection).start : (inSight?.start ?? 0)
  // Hits before this one begin before the place.
  let hit = firstRangeAfter(hits, from)
  if (hit < count && elementAt(hits, 2 * hit) < from) hit++
  if (direction === -1) return hit > 0 ? { hit: hit - 1, isAround: false } : { hit: count - 1, isAround: true }
  if (selection && hits[2 * hit] === from) hit++
  return hit < count ? { hit, isAround: false } : { hit: 0, isAround: true }
}

/** A hit as it is chosen: it stands at its first token, which is what is brought into sight. */
export const selectionOfHit = (hits: Int32Array, hit: number): Selection => ({
  anchor: elementAt(hits, 2 * hit + 1) - 1,
  focus: elementAt(hits, 2 * hit),
})
