/**
 * Finds where a series rises to another level, by Pettitt’s test (“A Non-Parametric Approach to the Change-Point Problem”, 1979). It compares
 * ranks, so that a few large values do not count as a rise.
 */
import { float64At, uint32At } from '#lib/util/element-at.ts'

/** A rise of a series: index of the first value of the new level, and the means before and after it. */
export interface Rise {
  readonly index: number
  readonly before: number
  readonly after: number
}

/** Fewest values on each side of a rise. */
const FEWEST = 16
/** Largest probability of such a rise in a series without one. */
const SIGNIFICANCE = 0.001
/** The mean after a rise is at least this many times the mean before it, and larger by this amount in nats: less is noise of kernels. */
const FACTOR = 2
const LEAST_DIFFERENCE = 0.02

/** Returns the first rise of a series of values that are not negative; undefined if there is none. */
export function firstRise(values: Float64Array): Rise | undefined {
  const rise = strongestRise(values)
  return rise && (firstRise(values.subarray(0, rise.index)) ?? rise)
}

/** Returns the split with the largest difference of ranks, if it is a rise. */
function strongestRise(values: Float64Array): Rise | undefined {
  const { length } = values
  if (length < 2 * FEWEST) return undefined
  const ranks = ranksOf(values)
  let [sum, most, index] = [0, 0, -1]
  for (let split = 1; split < length; split++) {
    sum += float64At(ranks, split - 1)
    // Smaller ranks before the split than after it: the values rise.
    const rise = split * (length + 1) - 2 * sum
    if (rise <= most || split < FEWEST || length - split < FEWEST) continue
    most = rise
    index = split
  }
  if (index < 0 || Math.exp((-6 * most * most) / (length ** 3 + length ** 2)) > SIGNIFICANCE) return undefined
  const [before, after] = [mean(values.subarray(0, index)), mean(values.subarray(index))]
  return after >= FACTOR * before && after - before >= LEAST_DIFFERENCE ? { index, before, after } : undefined
}

/** Returns the rank of each value from 1; equal values share the mean of their ranks. */
function ranksOf(values: Float64Array): Float64Array {
  const { length } = values
  const order = Uint32Array.from({ length }, (_, index) => index).sort(
    (a, b) => float64At(values, a) - float64At(values, b),
  )
  const ranks = new Float64Array(length)
  for (let start = 0; start < length; ) {
    let end = start + 1
    while (end < length && values[uint32At(order, end)] === values[uint32At(order, start)]) end++
    for (let place = start; place < end; place++) ranks[uint32At(order, place)] = (start + 1 + end) / 2
    start = end
  }
  return ranks
}

const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length
