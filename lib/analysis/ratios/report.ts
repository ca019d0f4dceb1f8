/** The importance ratios of a trajectory as the page shows them: one task that the worker runs again when the drift is known. */
import { type RatioComparison, ratioComparison, segmentLogRatios } from '#lib/trajectory/scoring/log-ratios.ts'
import { isTrained, segmentStarts, segmentsOf } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt, float64At } from '#lib/util/element-at.ts'
import { type RatioOrder, ratioOrder } from '../rescore/clipping.ts'
import type { InspectTask } from '../trajectory-task.ts'
import { firstLevelJump, type Jump, type TrainedRatios } from './jump.ts'
import { type RatioTotals, ratioTotals } from './totals.ts'

/** Ratios of the trained tokens, and what follows from them. */
export interface RatioReport extends TrainedRatios {
  readonly comparison: RatioComparison
  /** Undefined if no trained token has a ratio. */
  readonly totals: RatioTotals | undefined
  /** The ratios sorted, for the counts at thresholds. */
  readonly order: RatioOrder
  /** Mean |log ratio| of each segment; NaN where no trained token has a ratio. */
  readonly segmentMeans: Float64Array
  /** Where the level first rises; undefined if it does not. */
  readonly jump: Extract<Jump, { kind: 'level' }> | undefined
  /** Trained tokens without a ratio. */
  readonly unknown: number
}

/** Task that computes the report; undefined if the trajectory has no trainer’s logprobs. `drift` is as in `Evidence`. */
export const ratioReport: InspectTask<{ readonly drift: Int32Array | undefined }, undefined, RatioReport | undefined> =
  function* ({ drift }, trajectory) {
    const comparison = ratioComparison(trajectory)
    if (!comparison) return undefined
    const { tokens, logRatios, segmentMeans, unknown } = trainedRatios(trajectory)
    yield
    const count = tokens.length
    return {
      comparison,
      tokens,
      logRatios,
      segmentMeans,
      unknown,
      totals: ratioTotals(logRatios),
      order: ratioOrder({ count, deltas: logRatios, trained: new Int32Array(count).fill(1) }),
      jump: firstLevelJump({ tokens, logRatios }, { trajectory, drift }),
    }
  }

/** Returns the ratios of the trained tokens, in their order. */
function trainedRatios(trajectory: TrajectoryView) {
  const segments = segmentsOf(trajectory)
  const starts = segmentStarts(trajectory)
  const total = starts.at(-1) ?? 0
  const tokens = new Int32Array(total)
  const logRatios = new Float64Array(total)
  const segmentMeans = new Float64Array(segments.length).fill(Number.NaN)
  let [count, unknown] = [0, 0]
  for (const [index, segment] of segments.entries()) {
    const own = segmentLogRatios(trajectory, segment)
    let [known, absolute] = [0, 0]
    for (let offset = 0; offset < own.length; offset++) {
      if (!isTrained(segment, offset)) continue
      const logRatio = float64At(own, offset)
      if (!Number.isFinite(logRatio)) {
        unknown++
        continue
      }
      tokens[count] = elementAt(starts, index) + offset
      logRatios[count++] = logRatio
      known++
      absolute += Math.abs(logRatio)
    }
    if (known > 0) segmentMeans[index] = absolute / known
  }
  return { tokens: tokens.slice(0, count), logRatios: logRatios.slice(0, count), segmentMeans, unknown }
}
