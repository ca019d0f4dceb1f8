/** Lists the tokens that a correction would cap or leave out, the farthest from 1 first, each with one likely cause. */
import { float64At, int32At } from '#lib/util/element-at.ts'
import { type Cause, type CauseName, type Evidence, likelyCause } from './causes.ts'
import type { TrainedRatios } from './jump.ts'
import { type RatioThresholds, type TokenCorrection, tokenFate } from './thresholds.ts'

/** A token outside of the thresholds. */
export interface Outlier {
  readonly token: number
  readonly logRatio: number
  readonly fate: TokenCorrection
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
    const logRatio = float64At(logRatios, index)
    const fate = tokenFate(logRatio, thresholds)
    if (fate === undefined) continue
    const token = int32At(tokens, index)
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

/** Outliers near each other with the same cause, which a list shows as one entry. */
export interface OutlierRange {
  /** The outlier that is farthest from 1. */
  readonly farthest: Outlier
  /** The others, in the order of the list. */
  readonly others: readonly Outlier[]
  /** First and last token with an outlier. */
  readonly first: number
  readonly last: number
}

/** Largest distance in tokens between neighbours of a range. */
const NEAR = 8
/** Fewer outliers than these are not folded, because the entry would save no space. */
const FEWEST = 3

/** Folds outliers into ranges. Ranges have the order of the list, by their farthest outlier. */
export function outlierRanges(outliers: readonly Outlier[]): readonly OutlierRange[] {
  const firsts = new Map<Outlier, number>()
  const sizes = new Map<number, number>()
  let first = 0
  let before: Outlier | undefined
  for (const outlier of outliers.toSorted((a, b) => a.token - b.token)) {
    const isNear = before && outlier.token - before.token <= NEAR && outlier.cause.name === before.cause.name
    if (!isNear) first = outlier.token
    firsts.set(outlier, first)
    sizes.set(first, (sizes.get(first) ?? 0) + 1)
    before = outlier
  }
  const ranges = new Map<number, { farthest: Outlier; others: Outlier[]; first: number; last: number }>()
  for (const outlier of outliers) {
    const { token } = outlier
    const first = firsts.get(outlier) ?? token
    const key = (sizes.get(first) ?? 0) < FEWEST ? token : first
    const range = ranges.get(key)
    if (range) {
      range.others.push(outlier)
      range.first = Math.min(range.first, token)
      range.last = Math.max(range.last, token)
    } else ranges.set(key, { farthest: outlier, others: [], first: token, last: token })
  }
  return [...ranges.values()]
}
