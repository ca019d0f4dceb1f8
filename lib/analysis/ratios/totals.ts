/**
 * Totals of the importance ratios r = p_trainer / p_rollout of sampled tokens. With tokens sampled by the rollout, k1 = −log r,
 * k2 = (log r)² / 2 and k3 = (r − 1) − log r estimate KL(rollout ‖ trainer) (Schulman, “Approximating KL Divergence”, 2020). k1 is unbiased
 * and may be negative; k2 is biased with less variance; k3 is unbiased and never negative.
 */
import { float64At } from '#lib/util/element-at.ts'

/** Means of the three estimators of the KL divergence, in nats. */
export interface KlEstimates {
  readonly k1: number
  readonly k2: number
  readonly k3: number
}

/** Returns the means of the estimators; undefined if there are no tokens. */
export function klEstimates(logRatios: Float64Array): KlEstimates | undefined {
  const { length } = logRatios
  if (length === 0) return undefined
  let [k1, k2, k3] = [0, 0, 0]
  for (let index = 0; index < length; index++) {
    const logRatio = float64At(logRatios, index)
    k1 -= logRatio
    k2 += (logRatio * logRatio) / 2
    k3 += Math.expm1(logRatio) - logRatio
  }
  return { k1: k1 / length, k2: k2 / length, k3: k3 / length }
}

/** Totals over the trained tokens that have a ratio. */
export interface RatioTotals extends KlEstimates {
  readonly tokens: number
  /** Mean, smallest and largest ratio of a token. */
  readonly mean: number
  readonly least: number
  readonly greatest: number
  /** Sum of log ratios: the logarithm of the ratio of the whole sequence, which is the product of all ratios. */
  readonly logSum: number
  /** exp(mean log ratio): the ratio of the sequence normalised by its length, as GSPO uses it. */
  readonly geometricMean: number
  readonly meanAbsolute: number
}

/** Returns the totals; undefined if there are no tokens. */
export function ratioTotals(logRatios: Float64Array): RatioTotals | undefined {
  const estimates = klEstimates(logRatios)
  if (!estimates) return undefined
  const { length } = logRatios
  let [sum, absolute, ratios] = [0, 0, 0]
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (let index = 0; index < length; index++) {
    const logRatio = float64At(logRatios, index)
    sum += logRatio
    absolute += Math.abs(logRatio)
    ratios += Math.exp(logRatio)
    if (logRatio < least) least = logRatio
    if (logRatio > greatest) greatest = logRatio
  }
  return {
    ...estimates,
    tokens: length,
    mean: ratios / length,
    least: Math.exp(least),
    greatest: Math.exp(greatest),
    logSum: sum,
    geometricMean: Math.exp(sum / length),
    meanAbsolute: absolute / length,
  }
}
