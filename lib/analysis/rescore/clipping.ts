/**
 * Previews what a trainer’s correction of importance ratios does at a threshold. Truncated importance sampling (TIS) uses min(r, C)
 * as the weight of a token. Masked importance sampling (MIS, IcePop) uses r within [low, high], and 0 outside.
 * Ratios are sorted once. The effect of a threshold then takes logarithmic time, which is fast enough for a slider.
 */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { float64At, int32At, uint32At } from '#lib/util/element-at.ts'
import type { RescoredUnits } from './units.ts'

/** A correction of importance ratios. Its bounds are ratios, not logarithms. */
export type ClipRule =
  | { readonly kind: 'truncate'; readonly high: number }
  | { readonly kind: 'mask'; readonly low: number; readonly high: number }

/** Units in the order of rising ratio. */
export interface RatioOrder {
  readonly units: Uint32Array
  readonly deltas: Float64Array
  /** Trained tokens before each unit, and the number of all trained tokens last. One entry more than there are units. */
  readonly tokensBefore: Float64Array
  /** Sums of tokens × ratio before each unit, divided by the greatest ratio. One entry more than there are units. */
  readonly weightBefore: Float64Array
}

/** Effect of a correction on the trained tokens that have a ratio. */
export interface ClipEffect {
  /** Trained tokens whose weight the correction changes, of the `of` trained tokens that have a ratio. */
  readonly tokens: number
  readonly of: number
  /** Σ weight after / Σ ratio before, over trained tokens: the share of the gradient’s weight that is kept. 1 if no token has one. */
  readonly weightKept: number
  /** Ranges of the order whose units are below and above the bounds. */
  readonly below: Span
  readonly above: Span
}

/** Sorts units by their ratio and sums their tokens and weights, so that `clipEffect` is fast. */
export function ratioOrder({
  count,
  deltas,
  trained,
}: Pick<RescoredUnits, 'count' | 'deltas' | 'trained'>): RatioOrder {
  const units = Uint32Array.from({ length: count }, (_, unit) => unit).sort(
    (a, b) => float64At(deltas, a) - float64At(deltas, b),
  )
  const sorted = Float64Array.from(units, (unit) => float64At(deltas, unit))
  const most = sorted.at(-1) ?? 0
  const tokensBefore = new Float64Array(count + 1)
  const weightBefore = new Float64Array(count + 1)
  for (let place = 0; place < count; place++) {
    const tokens = int32At(trained, uint32At(units, place))
    tokensBefore[place + 1] = float64At(tokensBefore, place) + tokens
    weightBefore[place + 1] = float64At(weightBefore, place) + tokens * Math.exp(float64At(sorted, place) - most)
  }
  return { units, deltas: sorted, tokensBefore, weightBefore }
}

/** Returns what a correction changes. Takes logarithmic time. */
export function clipEffect({ deltas, tokensBefore, weightBefore }: RatioOrder, rule: ClipRule): ClipEffect {
  const { length } = deltas
  const log = Math.log(rule.high)
  const over = countWhile(length, (place) => float64At(deltas, place) <= log)
  const lowest = rule.kind === 'mask' ? Math.log(rule.low) : Number.NEGATIVE_INFINITY
  const under = Math.min(
    over,
    countWhile(length, (place) => float64At(deltas, place) < lowest),
  )
  const of = float64At(tokensBefore, length)
  const tokensAbove = of - float64At(tokensBefore, over)
  const within = float64At(weightBefore, over) - float64At(weightBefore, under)
  const truncated = rule.kind === 'truncate' ? tokensAbove * Math.exp(log - (deltas.at(-1) ?? 0)) : 0
  return {
    tokens: float64At(tokensBefore, under) + tokensAbove,
    of,
    weightKept: length === 0 ? 1 : (within + (tokensAbove > 0 ? truncated : 0)) / float64At(weightBefore, length),
    below: { start: 0, end: under },
    above: { start: over, end: length },
  }
}
