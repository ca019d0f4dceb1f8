/** How differences and noise are spread, on one scale: shares of tokens by the size of the difference. */

import { elementAt } from '#lib/util/element-at.ts'
import type { Units } from './units.ts'

export interface DeltaHistogram {
  /** Lower bounds in nats, rising by half a decade; the first bin holds all from 0 on, the last all above. */
  readonly from: readonly number[]
  /** Share of rescored trained tokens by |right − left|. */
  readonly deltas: readonly number[]
  /** Share of compared tokens by |prefill − sampled|; undefined: there is no noise floor. */
  readonly noise: readonly number[] | undefined
}

/** Below a hundred-thousandth all is rounding; beyond 10 nats all is the same: out of reach. */
const FIRST_EXPONENT = -5
const STEPS = 12
const FROM = [0, ...Array.from({ length: STEPS + 1 }, (_, step) => 10 ** (FIRST_EXPONENT + step / 2))]

export function deltaHistogram({ count, deltas, trained }: Units, noise: Float64Array): DeltaHistogram {
  return {
    from: FROM,
    deltas: shares(count, (unit) => [Math.abs(elementAt(deltas, unit)), elementAt(trained, unit)]),
    noise: noise.length > 0 ? shares(noise.length, (index) => [elementAt(noise, index), 1]) : undefined,
  }
}

function shares(count: number, at: (index: number) => readonly [size: number, tokens: number]): readonly number[] {
  const bins = new Float64Array(FROM.length)
  let all = 0
  for (let index = 0; index < count; index++) {
    const [size, tokens] = at(index)
    bins[binOf(size)] = elementAt(bins, binOf(size)) + tokens
    all += tokens
  }
  return Array.from(bins, (tokens) => (all === 0 ? 0 : tokens / all))
}

function binOf(size: number): number {
  if (size < elementAt(FROM, 1)) return 0
  const step = Math.floor(2 * (Math.log10(size) - FIRST_EXPONENT))
  return Math.min(step + 1, FROM.length - 1)
}
