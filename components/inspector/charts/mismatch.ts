/** Comparison of two numbers of the same tokens, such as the trainer's and the sampler's logprobs. */

import { float64At } from '#lib/util/element-at.ts'
import { largestIndices, type TokenSeries } from './series.ts'

/** Two numbers of the tokens that have both. */
export interface Pairs {
  /** Indices of the tokens in the trajectory, ascending. */
  readonly tokens: Float64Array
  readonly x: Float64Array
  readonly y: Float64Array
}

/** Returns the pairs of two series, whose tokens must be ascending. */
export function pairSeries(x: TokenSeries, y: TokenSeries): Pairs {
  const most = Math.min(x.tokens.length, y.tokens.length)
  const tokens = new Float64Array(most)
  const [xs, ys] = [new Float64Array(most), new Float64Array(most)]
  let count = 0
  let other = 0
  for (let index = 0; index < x.tokens.length; index++) {
    const token = float64At(x.tokens, index)
    while (other < y.tokens.length && float64At(y.tokens, other) < token) other++
    if (y.tokens[other] !== token) continue
    tokens[count] = token
    xs[count] = float64At(x.values, index)
    ys[count++] = float64At(y.values, other)
  }
  return { tokens: tokens.slice(0, count), x: xs.slice(0, count), y: ys.slice(0, count) }
}

/** How much two numbers differ. */
export interface Mismatch {
  readonly count: number
  /** Mean of y − x; the next two are of |y − x|. */
  readonly meanDifference: number
  readonly meanAbsolute: number
  readonly largestAbsolute: number
  /** Pearson correlation; null if one of the numbers does not vary. */
  readonly correlation: number | null
}

/** Returns how much the pairs differ; undefined if there are none. */
export function mismatchOf({ x, y }: Pairs): Mismatch | undefined {
  const count = x.length
  if (count === 0) return undefined
  let [sumX, sumY, absolute, most] = [0, 0, 0, 0]
  for (let index = 0; index < count; index++) {
    const [a, b] = [float64At(x, index), float64At(y, index)]
    sumX += a
    sumY += b
    absolute += Math.abs(b - a)
    most = Math.max(most, Math.abs(b - a))
  }
  const [meanX, meanY] = [sumX / count, sumY / count]
  let [xx, yy, xy] = [0, 0, 0]
  for (let index = 0; index < count; index++) {
    const [a, b] = [float64At(x, index) - meanX, float64At(y, index) - meanY]
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

/** Returns log(exp(y) / exp(x)) of each pair, where x and y are logprobs. */
export const logRatiosOf = ({ x, y }: Pairs): Float64Array => y.map((value, index) => value - float64At(x, index))

/** Returns the indices of the pairs that differ most, the largest difference first. */
export const worstPairs = ({ x, y }: Pairs, count: number): readonly number[] =>
  largestIndices(x.length, count, (index) => Math.abs(float64At(y, index) - float64At(x, index)))
