/**
 * Computes the cost of drift in probability: both sides are scored by prefill and compared.
 *
 * r = p_right / p_left over the same text: the left side is what was sampled, and the right side is what a trainer would compute.
 * With text from the left, k1 = −log r and k3 = (r − 1) − log r estimate KL(left ‖ right); k3 is never negative (Schulman,
 * “Approximating KL Divergence”, 2020, where r is p/q for samples from q).
 */
import { lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { float64At, int32At } from '#lib/util/element-at.ts'
import type { ComparedSides } from '../compare/compare-sides.ts'
import { type NoiseFloor, noiseFloor } from './noise.ts'
import { type PairedUnits, pairUnits, type RescoredUnits } from './units.ts'

/** A comparison with prefill logprobs: units, spans, totals and noise floor. */
export interface Rescoring extends PairedUnits {
  readonly totals: RescoreTotals
  /** Differences between prefill and sampled logprobs of the same ids. A side without sampled logprobs has no differences. */
  readonly noise: { readonly left: NoiseFloor; readonly right: NoiseFloor }
}

/** Prefill logprobs of both sides, one for each token; NaN is unknown. */
export interface SideScores {
  readonly left: Float64Array
  readonly right: Float64Array
}

/** Totals over the units: text of both sides that contains trained tokens. In nats; undefined if there are no units. */
export interface RescoreTotals {
  /** Trained tokens of the left side. */
  readonly trainedTokens: number
  /** Trained tokens of the left side that are in units. */
  readonly rescoredTokens: number
  readonly units: number
  /** Mean logprob per token, for each side. */
  readonly meanLogprob: { readonly left: number; readonly right: number } | undefined
  /** Sum of right − left: the logarithm of the sequence-level ratio, which is the product of all ratios. */
  readonly delta: number | undefined
  /** Numbers of the units with the least and the greatest ratio. */
  readonly least: number | undefined
  readonly greatest: number | undefined
  /** Means of k1 and k3 over units. */
  readonly k1: number | undefined
  readonly k3: number | undefined
  /** (Σr)² / (n Σr²) over rescored tokens: the effective sample size as a share of the tokens. */
  readonly effectiveShare: number | undefined
}

/** Pairs the tokens of both sides and computes ratios, totals and noise floors from their scores. */
export function rescore({ left, right, comparison }: ComparedSides, scores: SideScores): Rescoring {
  const mask = Uint8Array.from(lossMask(left.trajectory))
  const found = pairUnits({
    alignedRuns: comparison.alignedRuns,
    left: { scores: scores.left, mask },
    right: { scores: scores.right, mask: Uint8Array.from(lossMask(right.trajectory)) },
  })
  return {
    ...found,
    totals: totalsOf(
      found.units,
      mask.reduce((sum, trained) => sum + trained, 0),
    ),
    noise: { left: noiseFloor(left.trajectory, scores.left), right: noiseFloor(right.trajectory, scores.right) },
  }
}

/** Returns the importance ratio of a difference of logprobs. It may be Infinity for a long span. */
export const ratioOf = (delta: number): number => Math.exp(delta)

/** Returns k3 of one unit, (r − 1) − log r. `delta` is log r. */
export const k3Of = (delta: number): number => Math.expm1(delta) - delta

function totalsOf(units: RescoredUnits, trainedTokens: number): RescoreTotals {
  const { count, deltas, trained } = units
  if (count === 0)
    return {
      trainedTokens,
      rescoredTokens: 0,
      units: 0,
      meanLogprob: undefined,
      delta: undefined,
      least: undefined,
      greatest: undefined,
      k1: undefined,
      k3: undefined,
      effectiveShare: undefined,
    }
  let [least, greatest] = [0, 0]
  for (let unit = 1; unit < count; unit++) {
    if (float64At(deltas, unit) < float64At(deltas, least)) least = unit
    if (float64At(deltas, unit) > float64At(deltas, greatest)) greatest = unit
  }
  const most = float64At(deltas, greatest)
  const sums = { left: 0, right: 0, leftTokens: 0, rightTokens: 0, delta: 0, k3: 0, tokens: 0, ratio: 0, square: 0 }
  for (let unit = 0; unit < count; unit++) {
    const delta = float64At(deltas, unit)
    const tokens = int32At(trained, unit)
    // Ratios are divided by the greatest one, because the ratio of a long span may not fit into a double.
    const scaled = Math.exp(delta - most)
    sums.left += float64At(units.leftLogprobs, unit)
    sums.right += float64At(units.rightLogprobs, unit)
    sums.leftTokens += int32At(units.leftEnds, unit) - int32At(units.leftStarts, unit)
    sums.rightTokens += int32At(units.rightEnds, unit) - int32At(units.rightStarts, unit)
    sums.delta += delta
    sums.k3 += k3Of(delta)
    sums.tokens += tokens
    sums.ratio += tokens * scaled
    sums.square += tokens * scaled * scaled
  }
  return {
    trainedTokens,
    rescoredTokens: sums.tokens,
    units: count,
    meanLogprob: { left: sums.left / sums.leftTokens, right: sums.right / sums.rightTokens },
    delta: sums.delta,
    least,
    greatest,
    k1: (0 - sums.delta) / count,
    k3: sums.k3 / count,
    effectiveShare: (sums.ratio * sums.ratio) / (sums.tokens * sums.square),
  }
}
