/** Outlines in the lanes: every token in a drift span, the gaps where a side has no tokens, and the chosen drift span. */

import type { TokenMarks } from '#components/token-view/token-marks.ts'
import type { SideName } from '#lib/analysis/compare/compare-sides.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { type Pairing, runOfDrift } from './pairing.ts'

/** Returns marks for all drift spans. Each token has its own outline, because the sides often differ only in the splits. */
export function driftMarks({ alignedRuns, driftRuns }: Pairing, side: SideName): readonly TokenMarks[] {
  let tokens = 0
  let gaps = 0
  for (const number of driftRuns) {
    const { start, end } = elementAt(alignedRuns, number)[side]
    tokens += end - start
    if (end === start && start > 0) gaps++
  }
  const drift = new Int32Array(2 * tokens)
  const gap = new Int32Array(2 * gaps)
  let [driftEnd, gapEnd] = [0, 0]
  for (const number of driftRuns) {
    const { start, end } = elementAt(alignedRuns, number)[side]
    for (let token = start; token < end; token++) {
      drift[driftEnd++] = token
      drift[driftEnd++] = token + 1
    }
    // Two drift spans may have a gap at the same position.
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

/** Returns one mark around all tokens of a drift span on a side; none if the side has no tokens there. */
export function marksOfDrift(
  pairing: Pairing,
  side: SideName,
  drift: number | undefined,
  kind: 'current' | 'linked',
): readonly TokenMarks[] {
  const range = drift === undefined ? undefined : runOfDrift(pairing, drift)?.[side]
  return range && range.end > range.start ? [{ kind, ranges: Int32Array.of(range.start, range.end) }] : []
}
