/** What was rescored as columns of both sides, by which tokens are coloured and which their card shows. */
import { withColumn } from '#lib/trajectory/tokens/added-columns.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { Compared } from '../compare/compare-sides.ts'
import { type Rescoring, ratioOf, type SideScores } from './rescoring.ts'
import type { SpanRatio } from './units.ts'

export const PREFILL_COLUMN = 'prefill'
/** Right − left. All tokens of a span have the span’s: it says nothing of one of them. */
export const DELTA_COLUMN = 'delta'
export const RATIO_COLUMN = 'ratio'

export function withRescoring(compared: Compared, scores: SideScores, { spans }: Rescoring): Compared {
  const deltas = deltasOf(
    compared,
    scores,
    spans.map(({ ratio }) => ratio),
  )
  const side = (name: 'left' | 'right') => ({
    ...compared[name],
    trajectory: withColumns(compared[name].trajectory, scores[name], deltas[name]),
  })
  return { ...compared, left: side('left'), right: side('right') }
}

function withColumns(trajectory: TrajectoryView, prefill: Float64Array, delta: Float64Array): TrajectoryView {
  const columns: readonly (readonly [name: string, values: Float64Array])[] = [
    [PREFILL_COLUMN, prefill],
    [DELTA_COLUMN, delta],
    [RATIO_COLUMN, delta.map(ratioOf)],
  ]
  return columns.reduce((shown, [name, values]) => withColumn(shown, name, values), trajectory)
}

function deltasOf({ comparison }: Compared, scores: SideScores, ratios: readonly SpanRatio[]): SideScores {
  const left = new Float64Array(scores.left.length).fill(Number.NaN)
  const right = new Float64Array(scores.right.length).fill(Number.NaN)
  let drift = 0
  for (const stretch of comparison.stretches) {
    if (stretch.kind === 'drift') {
      const ratio = ratios[drift++]
      if (ratio?.kind !== 'known') continue
      left.fill(ratio.delta, stretch.left.start, stretch.left.end)
      right.fill(ratio.delta, stretch.right.start, stretch.right.end)
      continue
    }
    for (let at = stretch.left.start; at < stretch.left.end; at++) {
      const other = at - stretch.left.start + stretch.right.start
      const delta = elementAt(scores.right, other) - elementAt(scores.left, at)
      left[at] = delta
      right[other] = delta
    }
  }
  return { left, right }
}
