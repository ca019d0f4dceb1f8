/** Two numbers of the same tokens held against each other: what a trainer's logprobs differ from the sampler's. */

import { elementAt } from '#lib/util/element-at.ts'
import { largest, type TokenSeries } from './series.ts'

export interface Pairs {
  /** Tokens that have both numbers. */
  readonly tokens: Float64Array
  readonly x: Float64Array
  readonly y: Float64Array
}

export function pairsOf(x: TokenSeries, y: TokenSeries): Pairs {
  const most = Math.min(x.tokens.length, y.tokens.length)
  const tokens = new Float64Array(most)
  const [xs, ys] = [new Float64Array(most), new Float64Array(most)]
  let count = 0
  let other = 0
  for (let index = 0; index < x.tokens.length; index++) {
    const token = elementAt(x.tokens, index)
    while (other < y.tokens.length && elementAt(y.tokens, other) < token) other++
    if (y.tokens[other] !== token) continue
    tokens[count] = token
    xs[count] = elementAt(x.values, index)
    ys[count++] = elementAt(y.values, other)
  }
  return { tokens: tokens.slice(0, count), x: xs.slice(0, count), y: ys.slice(0, count) }
}

export interface Mismatch {
  readonly count: number
  /** Of y − x. */
  readonly meanDifference: number
  readonly meanAbsolute: number
  readonly largestAbsolute: number
  /** Pearson's; null where one of them does not vary. */
  readonly correlation: number | null
}

/** Undefined without pairs. */
export function mismatchOf({ x, y }: Pairs): Mismatch | undefined {
  const count = x.length
  if (count === 0) return undefined
  let [sumX, sumY, absolute, most] = [0, 0, 0, 0]
  for (let index = 0; index < count; index++) {
    const [a, b] = [elementAt(x, index), elementAt(y, index)]
    sumX += a
    sumY += b
    absolute += Math.abs(b - a)
    most = Math.max(most, Math.abs(b - a))
  }
  const [meanX, meanY] = [sumX / count, sumY / count]
  let [xx, yy, xy] = [0, 0, 0]
  for (let index = 0; index < count; index++) {
    const [a, b] = [elementAt(x, index) - meanX, elementAt(y, index) - meanY]
    xx += a * a
    yy += b * b
    xy += a * b
  }
  return {
    count,
    meanDifference: meanY - meanX,
    meanAbsolute: absolute / count,
    largestAbsolute: most,
    correlation: xx > 0 && yy > 0 ? Math.max(-1, Math.min(1, xy / Math.sqrt(xx * yy))) : null,
  }
}

interface Divergence {
  /** Mean of x − y: unbiased, may be negative. */
  readonly k1: number
  /** Mean of r − 1 − ln r with r = exp(y − x): never negative, less spread. */
  readonly k3: number
}

/** KL(x ‖ y) from tokens sampled by x, both logprobs, by the estimators of Schulman 2020 (joschu.net/blog/kl-approx.html). */
export function divergenceOf({ x, y }: Pairs): Divergence | undefined {
  if (x.length === 0) return undefined
  let [k1, k3] = [0, 0]
  for (let index = 0; index < x.length; index++) {
    const ratio = elementAt(y, index) - elementAt(x, index)
    k1 -= ratio
    k3 += Math.expm1(ratio) - ratio
  }
  return { k1: k1 / x.length, k3: k3 / x.length }
}

/** Places of the pairs that differ most, the worst first. */
export const worstPairs = ({ x, y }: Pairs, count: number): readonly number[] =>
  largest(x.length, count, (index) => Math.abs(elementAt(y, index) - elementAt(x, index)))
