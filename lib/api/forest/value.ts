/** Defines value estimates of a trajectory in the HTTP API: the mean reward of samples that continue it from chosen tokens. */
import * as z from 'zod/mini'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'

/** Most positions of one estimate. */
export const MOST_POSITIONS = 64
const count = z.int().check(z.minimum(0))
const within = {
  from: withDescription(
    z.exactOptional(count),
    'First token of the range. Default: the first token of the trajectory.',
  ),
  to: withDescription(z.exactOptional(count), 'Token after the range. Default: the number of tokens.'),
}

/** Schema of the choice of positions. */
const valueRangeSchema = z.union([
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
