/** The background of tokens: which number is shown, on which scale. Colours are named here, and live in the style sheet. */

import { isTrained, logprobsOf, surprise } from '#lib/core/tokens.ts'
import type { SegmentView } from '#lib/core/trajectory-view.ts'

/** logprob: of trained tokens; logprobs: of context too, where prefill logprobs were asked for. */
export type Heat = 'none' | 'mask' | 'logprob' | 'logprobs'
export const HEATS: readonly Heat[] = ['none', 'mask', 'logprob', 'logprobs']

export const HEAT_LEVELS = 8
/** Colours without an order, for what only has to be told from its neighbours. */
export const TINTS = 8
export const tint = (index: number): string => `var(--tint-${(index % TINTS) + 1})`

export interface HeatScale {
  /** Surprise, in nats, from which on the last level is used. */
  readonly limit: number
  /** The 95th percentile of the surprise of trained tokens, exact; null when none is known. */
  readonly p95: number | null
}

/** Clipped at p95 of trained tokens, in steps of half a nat so that it stands still while tokens arrive. */
export function heatScale(segments: readonly SegmentView[]): HeatScale {
  const values = segments
    .flatMap((segment) => trainedLogprobs(segment))
    .map((logprob) => surprise(logprob) as number)
    .sort((a, b) => a - b)
  const p95 = values[Math.min(values.length - 1, Math.floor(values.length * 0.95))]
  return p95 === undefined
    ? { limit: SMALLEST_LIMIT, p95: null }
    : { limit: Math.max(SMALLEST_LIMIT, Math.ceil(p95 * 2) / 2), p95 }
}

/** Below one nat (p > 0.37) there is nothing to be surprised at: a scale that ended earlier would colour noise. */
const SMALLEST_LIMIT = 1

const trainedLogprobs = (segment: SegmentView): number[] =>
  logprobsOf(segment).filter((logprob, index): logprob is number => logprob !== null && isTrained(segment, index))

/** The colour of a token; undefined = none. */
export function heatColour(
  heat: Heat,
  trained: boolean,
  logprob: number | null,
  { limit }: HeatScale,
): string | undefined {
  if (heat === 'mask') return trained ? 'var(--mask-on)' : undefined
  if (heat === 'none' || (heat === 'logprob' && !trained)) return undefined
  const value = surprise(logprob)
  if (value === null) return trained ? 'var(--heat-unknown)' : undefined
  const level = Math.min(HEAT_LEVELS, Math.floor((value / limit) * HEAT_LEVELS))
  return level === 0 ? undefined : `var(--heat-${level})`
}
