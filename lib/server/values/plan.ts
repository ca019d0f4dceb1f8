/** The plan of a value estimate: what it samples. It is stored before the first sample, so that another process can continue it. */
import * as z from 'zod'
import { MOST_RESAMPLES, valueRangeSchema } from '#lib/api/forest/value.ts'
import type { TrajectorySummary } from '#lib/api/library.ts'
import { estimateGroupId, type StoredEstimate } from '#lib/store/estimates.ts'
import { rewardRuleSchema } from '#lib/trajectory/reward/rule.ts'
import { branchSettings } from '../branches/branches.ts'
import type { Services } from '../services.ts'

/** Schema of a plan. */
const planSchema = z.strictObject({
  range: valueRangeSchema,
  n: z.int().min(1).max(MOST_RESAMPLES),
  reward: rewardRuleSchema,
  /** Positions in ascending order. */
  positions: z.array(z.int().min(0)).min(1),
  /** Expected number of sampled tokens. */
  tokens: z.int().min(0),
  settings: z.strictObject(branchSettings),
})
/** What a value estimate samples. */
export type ValuePlan = z.infer<typeof planSchema>

/** Returns the plan of a stored estimate. */
export const planOf = ({ plan }: Pick<StoredEstimate, 'plan'>): ValuePlan => planSchema.parse(JSON.parse(plan))

/** One of the samples that a plan has at a position. */
export interface PlannedSample {
  /** Index in `positions`. */
  readonly position: number
  /** Index among the samples at the position. */
  readonly sample: number
  /** The sample that has ended with an answer, otherwise the latest one. Undefined: there is none. */
  readonly row: TrajectorySummary | undefined
  /** Samples that were interrupted, stopped or failed, if none has ended: the next one takes their place. */
  readonly replaced: readonly TrajectorySummary[]
}

/** Returns all samples of a plan. */
export function plannedSamples(
  id: string,
  { positions, n }: ValuePlan,
  { store }: Pick<Services, 'store'>,
): readonly PlannedSample[] {
  return positions.flatMap((_, position) => {
    const rows = Map.groupBy(store.groupRows(estimateGroupId(id, position)), ({ group }) => group?.index)
    return Array.from({ length: n }, (_, sample) => {
      const own = rows.get(sample) ?? []
      const ended = own.find(hasEnded)
      return { position, sample, row: ended ?? own.at(-1), replaced: ended ? [] : own }
    })
  })
}

/** Returns the samples of a plan that are drawn when the estimate starts or is resumed. */
export const missingSamples = (id: string, plan: ValuePlan, all: Pick<Services, 'store'>): readonly PlannedSample[] =>
  plannedSamples(id, plan, all).filter(({ row }) => !row || !hasEnded(row))

/** Ends that say nothing about the position: somebody, or the end of the process, stopped the sample. */
const STOPPED = ['cancelled', 'aborted', 'interrupted']

/** Returns whether a sample has ended by itself and counts. */
export const hasEnded = ({ outcomeKind, outcome }: TrajectorySummary): boolean =>
  outcomeKind === 'ended' && !STOPPED.includes(outcome)
