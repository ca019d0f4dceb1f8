/** Adds the results of rescoring to both sides as columns. Tokens are coloured by them, and the token card shows them. */
import { withColumn } from '#lib/trajectory/tokens/added-columns.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { float64At } from '#lib/util/element-at.ts'
import type { ComparedSides } from '../compare/compare-sides.ts'
import { type Rescoring, ratioOf, type SideScores } from './rescoring.ts'
import type { SpanRatio } from './units.ts'

/** Name of the column of logprobs that prefill scoring gives, in nats. */
export const PREFILL_COLUMN = 'prefill'
/** Name of the column of differences, right − left, in nats. All tokens of a drift span have the value of the whole span. */
export const DELTA_COLUMN = 'delta'
/** Name of the column of importance ratios, p_right / p_left. All tokens of a drift span have the value of the whole span. */
export const RATIO_COLUMN = 'ratio'

/** Returns the comparison with the three columns on both sides. Unknown values are NaN. */
export function withRescoring(compared: ComparedSides, scores: SideScores, { spans }: Rescoring): ComparedSides {
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
  return columns.reduce((view, [name, values]) => withColumn(view, name, values), trajectory)
}

function deltasOf({ comparison }: ComparedSides, scores: SideScores, ratios: readonly SpanRatio[]): SideScores {
  const left = new Float64Array(scores.left.length).fill(Number.NaN)
  const right = new Float64Array(scores.right.length).fill(Number.NaN)
  let drift = 0
  for (const alignedRun of comparison.alignedRuns) {
    if (alignedRun.kind === 'drift') {
      const ratio = ratios[drift++]
      if (ratio?.kind !== 'known') continue
      left.fill(ratio.delta, alignedRun.left.start, alignedRun.left.end)
      right.fill(ratio.delta, alignedRun.right.start, alignedRun.right.end)
      continue
    }
    for (let at = alignedRun.left.start; at < alignedRun.left.end; at++) {
      const other = at - alignedRun.left.start + alignedRun.right.start
      const delta = float64At(scores.right, other) - float64At(scores.left, at)
      left[at] = delta
      right[other] = delta
    }
  }
  return { left, right }
}
