/**
 * What a trainer’s correction of importance ratios would do at a threshold. Truncated importance sampling (TIS) takes
 * min(r, C) for the weight of a token; masked (MIS, IcePop) takes r within [low, high] and nothing outside.
 * Ratios are sorted once; any threshold is then found in logarithmic time, so that a slider may move freely.
 */

import type { Span } from '#lib/trajectory/format/trajectory.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { Units } from './units.ts'

/** Bounds are ratios, not logarithms. */
export type ClipRule =
  | { readonly kind: 'truncate'; readonly high: number }
  | { readonly kind: 'mask'; readonly low: number; readonly high: number }

/** The units by rising ratio. */
export interface RatioOrder {
  readonly units: Uint32Array
  readonly deltas: Float64Array
  /** Trained tokens before each place, and after the last of all: one more than units. */
  readonly tokensBefore: Float64Array
  /** Likewise of tokens × ratio, over the greatest ratio. */
  readonly weightBefore: Float64Array
}

export interface ClipEffect {
  /** Trained tokens whose weight is changed, of all that have a ratio. */
  readonly tokens: number
  readonly of: number
  /** Σ weight after / Σ ratio before, over trained tokens: what is left of the gradient’s weight. 1 where none is rescored. */
  readonly weightKept: number
  /** Places in the order whose units lie under and over the bounds. */
  readonly below: Span
  readonly above: Span
}

export function ratioOrder({ count, deltas, trained }: Units): RatioOrder {
  const units = Uint32Array.from({ length: count }, (_, unit) => unit).sort(
    (a, b) => elementAt(deltas, a) - elementAt(deltas, b),
  )
  const sorted = Float64Array.from(units, (unit) => elementAt(deltas, unit))
  const most = sorted.at(-1) ?? 0
  const tokensBefore = new Float64Array(count + 1)
  const weightBefore = new Float64Array(count + 1)
  for (let place = 0; place < count; place++) {
    const tokens = elementAt(trained, elementAt(units, place))
    tokensBefore[place + 1] = elementAt(tokensBefore, place) + tokens
    weightBefore[place + 1] = elementAt(weightBefore, place) + tokens * Math.exp(elementAt(sorted, place) - most)
  }
  return { units, deltas: sorted, tokensBefore, weightBefore }
}

export function clipEffect({ deltas, tokensBefore, weightBefore }: RatioOrder, rule: ClipRule): ClipEffect {
  const { length } = deltas
  const log = Math.log(rule.high)
  const over = countWhile(length, (place) => elementAt(deltas, place) <= log)
  const lowest = rule.kind === 'mask' ? Math.log(rule.low) : Number.NEGATIVE_INFINITY
  const under = Math.min(
    over,
    countWhile(length, (place) => elementAt(deltas, place) < lowest),
  )
  const of = elementAt(tokensBefore, length)
  const tokensAbove = of - elementAt(tokensBefore, over)
  const within = elementAt(weightBefore, over) - elementAt(weightBefore, under)
  const truncated = rule.kind === 'truncate' ? tokensAbove * Math.exp(log - (deltas.at(-1) ?? 0)) : 0
  return {
    tokens: elementAt(tokensBefore, under) + tokensAbove,
    of,
    weightKept: length === 0 ? 1 : (within + (tokensAbove > 0 ? truncated : 0)) / elementAt(weightBefore, length),
    below: { start: 0, end: under },
    above: { start: over, end: length },
  }
}
