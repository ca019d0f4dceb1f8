/** The thresholds of corrections that trainers apply to importance ratios, and what they do at them. */
import { clipEffect, type RatioOrder } from '../rescore/clipping.ts'

/** Thresholds of all corrections. All are ratios, not logarithms. */
export interface RatioThresholds {
  /** TIS: the weight of a token is min(ratio, cap). */
  readonly cap: number
  /** IcePop: tokens outside of [low, high] are left out. */
  readonly low: number
  readonly high: number
  /** Sequence-level masking: a sample whose geometric mean is outside is left out. */
  readonly sequenceLow: number
  readonly sequenceHigh: number
}

/**
 * Defaults: the cap 2 of TIS (Yao et al., “Your Efficient RL Framework Secretly Brings You Off-Policy RL Training”, 2025); 0.5 and 5 of
 * IcePop (Ling Team, “Every Step Evolves: Scaling Reinforcement Learning for Trillion-Scale Thinking Model”, 2025); and for geometric
 * means the widest interval that verl’s documentation recommends, 1.001 and its reciprocal (rollout importance sampling, 2025).
 */
export const DEFAULT_THRESHOLDS: RatioThresholds = {
  cap: 2,
  low: 0.5,
  high: 5,
  sequenceLow: 0.999,
  sequenceHigh: 1.001,
}

/** Name of a threshold. */
export type ThresholdName = keyof RatioThresholds

const NAMES = ['low', 'high', 'cap', 'sequenceLow', 'sequenceHigh'] as const satisfies readonly ThresholdName[]

/** Returns thresholds as the address stores them, such as `0.5,5,2,0.999,1.001`; undefined for the defaults. */
export function thresholdsText(thresholds: RatioThresholds): string | undefined {
  return NAMES.every((name) => thresholds[name] === DEFAULT_THRESHOLDS[name])
    ? undefined
    : NAMES.map((name) => thresholds[name]).join(',')
}

/** Reads thresholds from the address. Values that are missing or impossible have their default. */
export function readThresholds(text: string | undefined): RatioThresholds {
  const numbers = (text ?? '').split(',').map(Number)
  const read = Object.fromEntries(
    NAMES.map((name, index) => {
      const value = numbers[index]
      return [name, value !== undefined && Number.isFinite(value) && value > 0 ? value : DEFAULT_THRESHOLDS[name]]
    }),
  ) as Readonly<Record<ThresholdName, number>>
  const isOrdered = read.low <= 1 && read.high >= 1 && read.sequenceLow <= read.sequenceHigh
  return isOrdered ? read : DEFAULT_THRESHOLDS
}

/** Range of each threshold: IcePop’s interval contains 1, since an unchanged token is never left out. */
const BOUNDS: Readonly<Record<ThresholdName, readonly [least: number, most: number]>> = {
  low: [0.1, 1],
  high: [1, 10],
  cap: [1, 10],
  sequenceLow: [0.5, 1],
  sequenceHigh: [1, 2],
}

/** Returns the thresholds with one changed, within its range. */
export function withThreshold(thresholds: RatioThresholds, name: ThresholdName, value: number): RatioThresholds {
  const [least, most] = BOUNDS[name]
  const digits = name.startsWith('sequence') ? 4 : 2
  return { ...thresholds, [name]: Number(Math.min(most, Math.max(least, value)).toFixed(digits)) }
}

/** Returns the range of a threshold. */
export const thresholdBounds = (name: ThresholdName): readonly [least: number, most: number] => BOUNDS[name]

/** What happens to a token: IcePop leaves it out, or TIS caps its weight. A token that is left out is not counted as capped. */
export type TokenCorrection = 'dropped' | 'capped'

/** Returns what happens to a token; undefined if nothing does. */
export function tokenFate(logRatio: number, { low, high, cap }: RatioThresholds): TokenCorrection | undefined {
  if (logRatio < Math.log(low) || logRatio > Math.log(high)) return 'dropped'
  return logRatio > Math.log(cap) ? 'capped' : undefined
}

/** What the corrections do, each by itself. */
export interface CorrectionEffect {
  /** Tokens with a ratio. */
  readonly of: number
  /** Tokens whose weight TIS caps, and the share of the weight that it keeps. */
  readonly capped: number
  readonly weightKept: number
  /** Tokens that IcePop leaves out. */
  readonly dropped: number
  /** Whether sequence-level masking keeps the sample. */
  readonly isSampleKept: boolean
}

/** Returns what the corrections do at the thresholds. Takes logarithmic time, so that it follows a handle that is dragged. */
export function correctionEffect(
  order: RatioOrder,
  geometricMean: number,
  { cap, low, high, sequenceLow, sequenceHigh }: RatioThresholds,
): CorrectionEffect {
  const truncated = clipEffect(order, { kind: 'truncate', high: cap })
  const masked = clipEffect(order, { kind: 'mask', low, high })
  return {
    of: truncated.of,
    capped: truncated.tokens,
    weightKept: truncated.weightKept,
    dropped: masked.tokens,
    isSampleKept: sequenceLow <= geometricMean && geometricMean <= sequenceHigh,
  }
}
