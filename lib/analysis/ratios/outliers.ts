/** Lists the tokens that a correction would cap or leave out, the farthest from 1 first, each with one likely cause. */
import { elementAt } from '#lib/util/element-at.ts'
import { type Cause, type CauseName, type Evidence, likelyCause } from './causes.ts'
import type { TrainedRatios } from './jump.ts'
import { type RatioThresholds, type TokenFate, tokenFate } from './thresholds.ts'

/** A token outside of the thresholds. */
export interface Outlier {
  readonly token: number
  readonly logRatio: number
  readonly fate: TokenFate
  readonly cause: Cause
}

/** Outliers in the order of the list, and how many have each cause. */
export interface Outliers {
  readonly outliers: readonly Outlier[]
  /** Causes by falling count. */
  readonly causes: readonly { readonly name: CauseName; readonly count: number }[]
}

/** Returns the outliers of a trajectory by falling |log ratio|; those equally far from 1 keep their order. */
export function outliersOf(
  { tokens, logRatios }: TrainedRatios,
  thresholds: RatioThresholds,
  evidence: Evidence,
): Outliers {
  const outliers: Outlier[] = []
  for (let index = 0; index < tokens.length; index++) {
    const logRatio = elementAt(logRatios, index)
    const fate = tokenFate(logRatio, thresholds)
    if (fate === undefined) continue
    const token = elementAt(tokens, index)
    outliers.push({ token, logRatio, fate, cause: likelyCause(evidence, token) })
  }
  outliers.sort((a, b) => Math.abs(b.logRatio) - Math.abs(a.logRatio))
  const counts = new Map<CauseName, number>()
  for (const { cause } of outliers) counts.set(cause.name, (counts.get(cause.name) ?? 0) + 1)
  return {
    outliers,
    causes: Array.from(counts, ([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count),
  }
}
