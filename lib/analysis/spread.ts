/** Describes how large differences of logprobs are. */
import { float64At } from '#lib/util/element-at.ts'

/** Statistics of |Δ| in nats. */
export interface Spread {
  readonly tokens: number
  readonly mean: number
  readonly median: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

/** Returns the statistics of |Δ|, which must be in ascending order; undefined if there is none. */
export function spreadOf(distances: Float64Array): Spread | undefined {
  const { length } = distances
  if (length === 0) return undefined
  const at = (share: number) => float64At(distances, Math.min(length - 1, Math.floor(share * length)))
  return {
    tokens: length,
    mean: distances.reduce((sum, value) => sum + value, 0) / length,
    median: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    max: at(1),
  }
}
