/** Defines value estimates of a trajectory in the HTTP API: the mean reward of samples that continue it from chosen tokens. */
import * as z from 'zod/mini'
import type { SamplingRequest } from '#lib/sampling/values.ts'
import { type RewardRule, rewardRuleSchema } from '#lib/trajectory/reward/rule.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'

/** Most positions of one estimate. */
export const MOST_POSITIONS = 64
/** Fewest resamples at a position: one alone has no spread. */
export const FEWEST_RESAMPLES = 2
/** Most resamples at a position. */
export const MOST_RESAMPLES = 64
/** Resamples at a position unless the request says otherwise. */
export const USUAL_RESAMPLES = 8
/** Most tokens that an estimate may be expected to sample. */
export const MOST_VALUE_TOKENS = 10_000_000

const count = z.int().check(z.minimum(0))
const within = {
  from: withDescription(
    z.exactOptional(count),
    'First token of the range. Default: the first token of the trajectory.',
  ),
  to: withDescription(z.exactOptional(count), 'Token after the range. Default: the number of tokens.'),
}

/** Schema of the choice of positions. */
export const valueRangeSchema = z.union([
  withDescription(
    z.strictObject({ every: z.int().check(z.minimum(1)), ...within }),
    'Every k-th trained token of the range, beginning with the first one.',
  ),
  withDescription(
    z.strictObject({ surprising: z.int().check(z.minimum(1), z.maximum(MOST_POSITIONS)), ...within }),
    'The n trained tokens of the range with the lowest sampled logprob.',
  ),
  withDescription(
    z.strictObject({ tokens: z.array(count).check(z.minLength(1), z.maxLength(MOST_POSITIONS)) }),
    'Explicit positions.',
  ),
])
/** A choice of positions. */
export type ValueRange = Plain<z.infer<typeof valueRangeSchema>>

const valueCostSchema = z.object({
  positions: withDescription(z.array(count), 'The chosen positions: each is the first token that is sampled anew.'),
  resamples: withDescription(count, 'Number of samples at all positions.'),
  tokens: withDescription(
    count,
    'Expected number of sampled tokens: as many as the model sampled in the trajectory from each position on, once for each sample, ' +
      'within max_new_tokens and the limits.',
  ),
})
/** What an estimate is expected to sample. */
export type ValueCost = Plain<z.infer<typeof valueCostSchema>>

const spreadSchema = z.object({
  answers: withDescription(
    z.array(
      z.object({
        text: withDescription(z.nullable(z.string()), 'The first 200 characters. null: no answer.'),
        count,
        reward: z.nullable(z.number()),
      }),
    ),
    'Distinct final answers, most frequent first. At most 10.',
  ),
  distinctAnswers: withDescription(count, 'Number of distinct final answers, also of those that are not listed.'),
  sampledTokens: withDescription(
    z.object({ min: count, mean: z.number(), max: count }),
    'Lengths: tokens that were sampled after the position.',
  ),
  toolCalls: z.object({
    mean: withDescription(z.number(), 'Tool calls of a sample after the position.'),
    withCalls: withDescription(count, 'Samples with at least one call after the position.'),
    failed: withDescription(count, 'Calls that failed or are malformed, of all samples.'),
  }),
})
/** What the samples at one position did. */
export type ResampleSpread = Plain<z.infer<typeof spreadSchema>>

const pointSchema = z.object({
  at: withDescription(count, 'The position.'),
  keys: withDescription(z.array(z.string()), 'Keys of the samples so far, in their order.'),
  groupId: withDescription(z.string(), 'The group of the samples at this position.'),
  rewarded: withDescription(count, 'Samples with a reward. The mean and the interval are of these.'),
  truncated: withDescription(count, 'Samples that ended at a limit of length.'),
  failed: withDescription(
    count,
    'Samples that failed. They have no reward, and a resumed estimate samples them again.',
  ),
  value: withDescription(
    z.nullable(
      z.object({
        mean: z.number(),
        low: z.number(),
        high: z.number(),
        method: withDescription(
          z.enum(['clopper-pearson', 'student', 'hoeffding']),
          'clopper-pearson: exact, for rewards of 0 and 1. student: Student’s t, cut to the range of the reward. hoeffding: for equal rewards that are neither 0 nor 1.',
        ),
      }),
    ),
    'Mean reward with its interval. null: no sample has a reward.',
  ),
  spread: withDescription(z.nullable(spreadSchema), 'null: no sample has ended.'),
})

const cliffSchema = z.object({
  from: withDescription(
    count,
    'The position before the drop. The tokens from here up to `to` are the ones that lost the reward.',
  ),
  to: withDescription(count, 'The position after the drop.'),
  before: withDescription(z.number(), 'Mean reward at `from`.'),
  after: withDescription(z.number(), 'Mean reward at `to`.'),
  drop: z.number(),
  p: withDescription(z.number(), 'One-sided p after Holm’s correction for all neighbouring positions.'),
  test: withDescription(
    z.enum(['fisher', 'student', 'permutation']),
    'fisher: Fisher’s exact test, for rewards of 0 and 1. student: Student’s t test. permutation: for samples that are each constant.',
  ),
})
/** The largest significant drop of the mean reward between neighbouring positions. */
export type ValueCliff = Plain<z.infer<typeof cliffSchema>>

const readingSchema = z.enum(['incomplete', 'single', 'cliff', 'exploratory'])
/** What may be concluded from a curve. */
export type ValueReading = z.infer<typeof readingSchema>

const estimateIdentity = {
  id: z.string(),
  createdAt: z.string(),
  state: withDescription(
    z.enum(['running', 'done', 'cancelled', 'failed']),
    'An estimate whose application ended is continued by the next one that opens the data folder.',
  ),
  range: valueRangeSchema,
  n: withDescription(count, 'Samples at each position.'),
}

/** The estimate at one position. */
export type ValuePoint = Plain<z.infer<typeof pointSchema>>

/** Schema of a value estimate. */
export const valueEstimateSchema = z.object({
  ...estimateIdentity,
  key: withDescription(z.string(), 'Key of the trajectory.'),
  failure: withDescription(
    z.nullable(z.object({ code: z.string(), message: z.string() })),
    'Why it failed. null: it did not.',
  ),
  reward: rewardRuleSchema,
  server: withDescription(z.nullable(z.string()), 'The server of the samples. null: that of the trajectory.'),
  cost: valueCostSchema,
  progress: z.object({
    ended: withDescription(count, 'Samples that have ended.'),
    resamples: withDescription(count, 'Samples of the whole estimate.'),
    sampledTokens: withDescription(count, 'Tokens that were sampled so far.'),
  }),
  points: withDescription(z.array(pointSchema), 'One for each position, in ascending order.'),
  confidence: withDescription(
    z.object({ level: z.number(), correction: z.literal('bonferroni'), intervals: count }),
    'All intervals together contain the true means with this probability: the error of each is divided by their number.',
  ),
  cliff: withDescription(z.nullable(cliffSchema), 'null: no drop is significant, or the estimate is not complete.'),
  reading: withDescription(
    readingSchema,
    'incomplete: samples are missing. single: one position. cliff: a drop is significant. exploratory: no drop is significant after the ' +
      'correction, so the shape of the curve may be chance.',
  ),
})
/** A value estimate. */
export type ValueEstimate = Plain<z.infer<typeof valueEstimateSchema>>

/** The answer of GET /api/trajectories/{key}/value. */
export const valueEstimatesSchema = z.object({
  estimates: withDescription(
    z.array(
      z.object({
        ...estimateIdentity,
        positions: withDescription(count, 'Number of positions.'),
      }),
    ),
    'The latest 20 estimates of the trajectory, the latest first.',
  ),
  inherited: withDescription(
    z.array(
      z.object({
        ...estimateIdentity,
        key: withDescription(z.string(), 'Key of that trajectory.'),
        fork: withDescription(
          z.nullable(count),
          'The token at which that trajectory was forked itself. null: it is no fork.',
        ),
        shared: withDescription(count, 'Number of tokens that both trajectories begin with.'),
        positions: withDescription(
          count,
          'Number of positions up to `shared`: their values belong to both trajectories, because the tokens before them are the same.',
        ),
      }),
    ),
    'Of a branch: the latest 20 finished estimates of the trajectories that it was forked from, the nearest first, if they have such positions.',
  ),
  reward: withDescription(
    z.nullable(rewardRuleSchema),
    'The rule that scores the samples if the request has none: that of the group, or of the latest estimate, or of a trajectory that it was forked from. null: a request needs one.',
  ),
})
/** The estimates of a trajectory. */
export type ValueEstimates = Plain<z.infer<typeof valueEstimatesSchema>>

/** The answer to a request with `dryRun`. */
export const valueDryRunSchema = z.object({
  cost: valueCostSchema,
  reward: withDescription(
    z.nullable(rewardRuleSchema),
    'The rule that would score the samples. null: a request needs one.',
  ),
})
/** The cost of an estimate that was not started. */
export type ValueDryRun = Plain<z.infer<typeof valueDryRunSchema>>

/** The body of a request for an estimate, as a page sends it. */
export interface ValueBody {
  readonly range: ValueRange
  readonly n: number
  readonly reward?: RewardRule
  readonly sampling?: SamplingRequest
  readonly server?: string
}
