/**
 * Computes the noise floor: how far prefill and sampled logprobs of the same ids differ because of kernels, rounding and batches
 * alone. The effect of drift is compared with it. Only tokens count whose sampled logprobs have the same meaning as prefill logprobs.
 * Logprobs sampled at other temperatures are scaled by the temperature, so they are counted separately with the reason.
 */
import { responseCalls } from '#lib/trajectory/messages/response-calls.ts'
import { whyNotComparable } from '#lib/trajectory/scoring/comparable.ts'
import { isTrained } from '#lib/trajectory/tokens/tokens.ts'
import { numberAt, type ResponseView, type TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { type Spread, spreadOf } from '../spread.ts'

/** Differences between prefill and sampled logprobs of a side’s own ids. */
export interface NoiseFloor {
  /** |prefill − sampled| in nats of the trained tokens that can be compared, in rising order. */
  readonly differences: Float64Array
  /** Statistics of the differences; undefined if there are none. */
  readonly spread: NoiseSpread | undefined
  /** Temperatures at which those tokens were sampled: 1, or 0, which is greedy and has the logprobs of temperature 1. */
  readonly temperatures: readonly number[]
  /** Numbers of trained tokens whose sampled logprobs cannot be compared, by the reason. */
  readonly apart: readonly { readonly reason: string; readonly tokens: number }[]
  /** Parameters that limited sampling to the most likely tokens, such as `top_p 0.9`. Logprobs do not show this. */
  readonly narrowed: readonly string[]
}

interface NoiseSpread extends Spread {
  /** Mean of prefill − sampled, with its sign. */
  readonly bias: number
}

/** Computes the noise floor of a trajectory. `scores` holds one prefill logprob for each token; NaN is unknown. */
export function noiseFloor(trajectory: TrajectoryView, scores: Float64Array): NoiseFloor {
  const signed: number[] = []
  const apart = new Map<string, number>()
  const narrowed = new Set<string>()
  const temperatures = new Set<number>()
  let start = 0
  for (const segment of trajectory.segments) {
    for (const call of segment.kind === 'response' ? responseCalls(segment) : []) {
      const reason = whyNotComparable(call, trajectory)
      let tokens = 0
      for (let offset = call.start; offset < call.end; offset++) {
        const sampled = numberAt(segment.logprobs, offset)
        const scored = numberAt(scores, start + offset)
        if (sampled === null || scored === null || !isTrained(segment, offset)) continue
        tokens++
        if (reason === undefined) signed.push(scored - sampled)
      }
      if (reason === undefined && tokens > 0) temperatures.add(call.request?.samplingParams.temperature === 0 ? 0 : 1)
      if (reason !== undefined && tokens > 0) apart.set(reason, (apart.get(reason) ?? 0) + tokens)
      for (const name of narrowing(call)) narrowed.add(name)
    }
    start += segment.ids.length
  }
  const differences = Float64Array.from(signed, Math.abs).sort()
  const spread = spreadOf(differences)
  return {
    differences,
    spread: spread && { ...spread, bias: signed.reduce((sum, value) => sum + value, 0) / signed.length },
    temperatures: [...temperatures].sort(),
    apart: Array.from(apart, ([reason, tokens]) => ({ reason, tokens })),
    narrowed: [...narrowed],
  }
}

/** Values that do not limit sampling. SGLang applies these parameters when it samples, but not to the logprobs that it reports. */
const FULL: readonly (readonly [name: string, all: readonly number[]])[] = [
  ['top_p', [1]],
  ['top_k', [-1, 0]],
  ['min_p', [0]],
]

function narrowing({ request }: Pick<ResponseView, 'request'>): readonly string[] {
  return FULL.flatMap(([name, all]) => {
    const value = request?.samplingParams[name]
    return typeof value === 'number' && !all.includes(value) ? [`${name} ${value}`] : []
  })
}
