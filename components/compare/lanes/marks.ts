/** What is outlined in the lanes: every token that drifts, the places where a side has nothing, and the drift that is chosen. */

import type { TokenMarks } from '#components/token-view/token-marks.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { driftNumbered, type Pairing } from './pairing.ts'

/** Each token of a drift has an outline of its own: where they are cut is what often differs. */
export function driftMarks({ stretches, driftStretches }: Pairing, side: SideName): readonly TokenMarks[] {
  let tokens = 0
  let gaps = 0
  const ranges = Array.from(driftStretches, (number) => elementAt(stretches, number)[side])
  for (const { start, end } of ranges) {
    tokens += end - start
    if (end === start && start > 0) gaps++
  }
  const drift = new Int32Array(2 * tokens)
  const gap = new Int32Array(2 * gaps)
  let [driftEnd, gapEnd] = [0, 0]
  for (const { start, end } of ranges) {
    for (let token = start; token < end; token++) {
      drift[driftEnd++] = token
      drift[driftEnd++] = token + 1
    }
    // Two drifts may have nothing at the same place.
    if (end === start && start > 0 && gap[gapEnd - 1] !== start) {
      gap[gapEnd++] = start - 1
      gap[gapEnd++] = start
    }
  }
  return [
    { kind: 'drift', ranges: drift },
    { kind: 'gap', ranges: gap.subarray(0, gapEnd) },
  ]
}

/** Of one drift, all its tokens on a side together; none where it has none there. */
export function marksOfDrift(
  pairing: Pairing,
  side: SideName,
  drift: number | undefined,
  kind: 'current' | 'linked',
): readonly TokenMarks[] {
  const range = drift === undefined ? undefined : driftNumbered(pairing, drift)?.[side]
  return range && range.end > range.start ? [{ kind, ranges: Int32Array.of(range.start, range.end) }] : []
}
