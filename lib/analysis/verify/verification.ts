/** Compares recorded logprobs with prefill logprobs of the same ids. */

import { responseCalls } from '#lib/trajectory/messages/response-calls.ts'
import { whyNotComparable } from '#lib/trajectory/scoring/comparable.ts'
import { isTrained } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt, type TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { type Spread, spreadOf } from '../spread.ts'

/** Differences between recorded logprobs and the logprobs of a prefill of the same ids, by what they mean. */
export interface Verification {
  /** Trained tokens whose sampled logprobs can be compared; the mean is the noise floor. Undefined: there are none. */
  readonly sampled: LogprobDifference | undefined
  /** Recorded prefill logprobs of context, compared with the new prefill. Undefined: none were recorded. */
  readonly prefill: LogprobDifference | undefined
  /** Trained tokens whose sampled logprobs have another meaning: the difference is not noise. Undefined: there are none. */
  readonly tempered: { readonly difference: LogprobDifference; readonly reasons: readonly string[] } | undefined
  /** Comparable trained tokens that differ far more than the others, the greatest difference first. */
  readonly outliers: readonly Outlier[]
  /** Trained tokens without a recorded logprob. */
  readonly unknown: number
}

/** Statistics of |scored − recorded| in nats. */
export type LogprobDifference = Pick<Spread, 'tokens' | 'mean' | 'p99' | 'max'>

interface Outlier {
  /** Index of the token in the trajectory. */
  readonly index: number
  readonly recorded: number
  readonly scored: number
}

/** Compares the recorded logprobs with `scores`: one prefill logprob for each token, NaN if it was not scored. */
export function verification(trajectory: TrajectoryView, scores: Float64Array): Verification {
  const sampled: Outlier[] = []
  const prefill: Outlier[] = []
  const tempered: Outlier[] = []
  const reasons = new Set<string>()
  let unknown = 0
  let start = 0
  for (const segment of trajectory.segments) {
    const calls = segment.kind === 'response' ? responseCalls(segment) : [{ start: 0, end: segment.ids.length }]
    for (const call of calls) {
      const reason = segment.kind === 'response' ? whyNotComparable(call, trajectory) : undefined
      for (let offset = call.start; offset < call.end; offset++) {
        const index = start + offset
        const trained = isTrained(segment, offset)
        const recorded = numberAt(segment.logprobs, offset)
        const scored = numberAt(scores, index)
        if (trained && recorded === null) unknown++
        if (recorded === null || scored === null) continue
        const pair = { index, recorded, scored }
        if (segment.kind === 'prompt') prefill.push(pair)
        else if (trained && reason !== undefined) {
          tempered.push(pair)
          reasons.add(reason)
        } else if (trained) sampled.push(pair)
      }
    }
    start += segment.ids.length
  }
  const difference = differenceOf(tempered)
  return {
    sampled: differenceOf(sampled),
    prefill: differenceOf(prefill),
    tempered: difference && { difference, reasons: [...reasons] },
    outliers: outliersOf(sampled),
    unknown,
  }
}

const distance = ({ recorded, scored }: Outlier): number => Math.abs(scored - recorded)

function differenceOf(pairs: readonly Outlier[]): LogprobDifference | undefined {
  const spread = spreadOf(Float64Array.from(pairs, distance).sort())
  return spread && { tokens: spread.tokens, mean: spread.mean, p99: spread.p99, max: spread.max }
}

const MOST_OUTLIERS = 20
/** In nats. A smaller difference is never an outlier, even if all others are much smaller. */
const SMALLEST_OUTLIER = 0.01
/** An outlier differs by at least this many times the median. */
const FAR = 10

function outliersOf(pairs: readonly Outlier[]): readonly Outlier[] {
  const distances = Float64Array.from(pairs, distance).sort()
  const median = distances[distances.length >> 1] ?? 0
  const least = Math.max(SMALLEST_OUTLIER, FAR * median)
  return pairs
    .filter((pair) => distance(pair) >= least)
    .sort((a, b) => distance(b) - distance(a))
    .slice(0, MOST_OUTLIERS)
}
