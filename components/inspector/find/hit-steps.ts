/** Steps from hit to hit. Hits are flat pairs of token indices, half-open and sorted, and are numbered from 0. */

import { type Selection, selectedRange } from '#components/token-view/selection.ts'
import { firstRangeAfter, type TokenMarks } from '#components/token-view/token-marks.ts'
import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { int32At } from '#lib/util/element-at.ts'

/** Returns the number of the hit that equals the selection; undefined if there is none. */
export function chosenHit(hits: Int32Array, selection: Selection | undefined): number | undefined {
  if (!selection) return undefined
  const { start, end } = selectedRange(selection)
  const hit = firstRangeAfter(hits, start)
  return hits[2 * hit] === start && hits[2 * hit + 1] === end ? hit : undefined
}

/** Returns the number of the marked hit that equals the selection; undefined if there is none. */
export const currentHit = (marks: readonly TokenMarks[], selection: Selection | undefined): number | undefined =>
  chosenHit(hitsIn(marks), selection)

/** Returns the marks with one hit as `current`; undefined means no hit. */
export function withCurrentHit(marks: readonly TokenMarks[], hit: number | undefined): readonly TokenMarks[] {
  const others = marks.filter(({ kind }) => kind !== 'current')
  if (hit === undefined) return others
  return [...others, { kind: 'current', ranges: hitsIn(marks).slice(2 * hit, 2 * hit + 2) }]
}

const hitsIn = (marks: readonly TokenMarks[]): Int32Array =>
  marks.find(({ kind }) => kind === 'hit')?.ranges ?? new Int32Array()

interface Step {
  readonly hit: number
  /** Whether the search continued from the other end. */
  readonly isAround: boolean
}

/**
 * Returns the next or previous hit from the selection, or from the first visible token if nothing is selected; undefined if
 * there are no hits.
 */
export function stepFrom(
  hits: Int32Array,
  selection: Selection | undefined,
  inSight: Span | undefined,
  direction: 1 | -1,
): Step | undefined {
  const count = hits.length >> 1
  if (count === 0) return undefined
  const from = selection ? selectedRange(selection).start : (inSight?.start ?? 0)
  // Every hit before this one begins before `from`.
  let hit = firstRangeAfter(hits, from)
  if (hit < count && int32At(hits, 2 * hit) < from) hit++
  if (direction === -1) return hit > 0 ? { hit: hit - 1, isAround: false } : { hit: count - 1, isAround: true }
  if (selection && hits[2 * hit] === from) hit++
  return hit < count ? { hit, isAround: false } : { hit: 0, isAround: true }
}

/** Returns a hit as a selection with the focus at its first token, which is scrolled into view. */
export const selectionOfHit = (hits: Int32Array, hit: number): Selection => ({
  anchor: int32At(hits, 2 * hit + 1) - 1,
  focus: int32At(hits, 2 * hit),
})
