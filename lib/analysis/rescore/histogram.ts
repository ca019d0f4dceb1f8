/** Computes the distribution of differences and of noise on one scale: shares of tokens by the size of the difference. */

import { elementAt, float64At, int32At } from '#lib/util/element-at.ts'
import type { RescoredUnits } from './units.ts'

/** Shares of tokens by the size of a difference of logprobs. The shares of each list sum up to 1, or are all 0. */
export interface DeltaHistogram {
  /** Lower bounds of the bins in nats, in steps of half a decade. The first bin begins at 0, and the last one has no upper bound. */
  readonly from: readonly number[]
  /** Shares of rescored trained tokens by |right − left|. */
  readonly deltas: readonly number[]
  /** Shares of compared tokens by |prefill − sampled|; undefined if there is no noise floor. */
  readonly noise: readonly number[] | undefined
}

/** Differences below 10⁻⁵ nats are rounding, so the first bin ends there. Differences above 10 nats share the last bin. */
const FIRST_EXPONENT = -5
const STEPS = 12
const FROM = [0, ...Array.from({ length: STEPS + 1 }, (_, step) => 10 ** (FIRST_EXPONENT + step / 2))]

/** Returns the histogram of units and of noise. `noise` holds absolute differences in nats; an empty array means no noise floor. */
export function deltaHistogram({ count, deltas, trained }: RescoredUnits, noise: Float64Array): DeltaHistogram {
  return {
    from: FROM,
    deltas: shares(count, (unit) => [Math.abs(float64At(deltas, unit)), int32At(trained, unit)]),
    noise: noise.length > 0 ? shares(noise.length, (index) => [float64At(noise, index), 1]) : undefined,
  }
}

function shares(count: number, at: (index: number) => readonly [size: number, tokens: number]): readonly number[] {
  const bins = new Float64Array(FROM.length)
  let all = 0
  for (let index = 0; index < count; index++) {
    const [size, tokens] = at(index)
    bins[binOf(size)] = float64At(bins, binOf(size)) + tokens
    all += tokens
  }
  return Array.from(bins, (tokens) => (all === 0 ? 0 : tokens / all))
}

function binOf(size: number): number {
  if (size < elementAt(FROM, 1)) return 0
  const step = Math.floor(2 * (Math.log10(size) - FIRST_EXPONENT))
  return Math.min(step + 1, FROM.length - 1)
}
