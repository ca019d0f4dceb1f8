/** Defines the request and the answer of rescoring over the API. All logarithms are natural; null is unknown, or too large for a double. */
import * as z from 'zod'
import type { ScoringResult } from '#lib/trajectory/scoring/gathered.ts'
import type { ScoringServer } from '#lib/trajectory/scoring/score.ts'
import { float64At } from '#lib/util/element-at.ts'
import type { Plain } from '#lib/util/plain.ts'
import { clipEffect, ratioOrder } from './clipping.ts'
import type { NoiseFloor } from './noise.ts'
import { type Rescoring, ratioOf } from './rescoring.ts'
import type { ScoresOfBoth } from './score-both.ts'
import type { ServerDifference } from './server-difference.ts'

const bound = z.number().gt(0)

/** Schema of the request body. It refuses unknown fields. */
export const rescoreRequestSchema = z.strictObject({
  server: z
    .string()
    .exactOptional()
    .describe('Name of a saved server that scores both sides. Default: the default server.'),
  left: z.string().exactOptional().describe('Name of another server for the left side.'),
  right: z.string().exactOptional().describe('Name of another server for the right side.'),
  tokens: z
    .enum(['trained', 'every'])
    .exactOptional()
    .describe(
      'trained: score the trained tokens of both sides and all drift spans. every: score every token. Default: trained.',
    ),
  repeat: z
    .boolean()
    .exactOptional()
    .describe('Score everything twice, to measure how far each server differs from itself. Default false.'),
  clip: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('truncate'), high: bound }),
      z
        .strictObject({ kind: z.literal('mask'), low: bound, high: bound })
        .refine(({ low, high }) => low <= high, { message: '"low" that is at most "high"' }),
    ])
    .exactOptional()
    .describe('A correction to preview: truncate: min(ratio, high). mask: 0 outside of low … high.'),
})
/** Request: the servers that score, which tokens, and a correction to preview. */
export type RescoreRequest = Plain<z.infer<typeof rescoreRequestSchema>>

const number = z.number().nullable()
const count = z.int().min(0)
const spanSum = z.object({ tokens: count, sum: number, mean: number })
const served = z
  .object({
    name: z.string(),
    modelName: z.string().exactOptional(),
    weightVersions: z
      .array(z.string())
      .describe('Versions of the weights that computed the scores, without repetition.'),
    tokenizer: z
      .string()
      .exactOptional()
      .describe('Fingerprint of the tokenizer. Omitted: its files are not available here.'),
  })
  .nullable()
  .describe('null: no token of this side had to be scored.')
const noise = z.object({
  tokens: count.describe('Trained tokens whose sampled logprob may be compared with prefill.'),
  temperatures: z.array(z.number()).describe('Temperatures of those tokens: 1, or 0, which has the logprobs of 1.'),
  mean: number,
  median: number,
  p95: number,
  max: number,
  bias: number,
  apart: z
    .array(z.object({ reason: z.string(), tokens: count }))
    .describe(
      'Trained tokens whose sampled logprobs have another meaning, and why: they are counted in no other number here.',
    ),
  narrowed: z.array(z.string()),
})

const spread = z.object({
  tokens: count,
  mean: z.number(),
  median: z.number(),
  p95: z.number(),
  p99: z.number(),
  max: z.number(),
})
const serverNoise = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('measured'), spread }),
  z.object({ kind: z.literal('unknown'), why: z.string() }),
])
const difference = z.object({
  spread: spread.describe('|Δ| of the tokens that both servers scored, in nats.'),
  noise: z
    .object({ left: serverNoise, right: serverNoise })
    .exactOptional()
    .describe('|Δ| between two passes of each server. Omitted: `repeat` was not requested.'),
  floor: z.number().nullable().describe('The larger p99 of the noise of both servers. null: unknown.'),
  above: count.nullable().describe('Tokens whose |Δ| is above the floor. null: the floor is unknown.'),
  jump: z
    .discriminatedUnion('kind', [
      z.object({ kind: z.literal('level'), token: count, before: z.number(), after: z.number() }),
      z.object({ kind: z.literal('token'), token: count, delta: z.number() }),
    ])
    .nullable()
    .describe(
      'Where the servers first move apart, above the floor. level: the mean |Δ| is larger from the token on. token: its probability at least doubles or halves. null: nowhere.',
    ),
})

/** Schema of the answer. */
export const rescoreAnswerSchema = z.object({
  servers: z.object({ left: served, right: served }),
  totals: z.object({
    trainedTokens: count.describe('Trained tokens of the left side.'),
    rescoredTokens: count.describe('Trained tokens of the left side that are part of a unit.'),
    units: count.describe(
      'Units with trained tokens: pairs of tokens with the same id, and spans of the same text in different tokens.',
    ),
    unknown: count.describe('Trained tokens without a known logprob.'),
    unpaired: z
      .object({ left: count, right: count })
      .describe('Trained tokens in text that the other side does not have: no ratio.'),
    meanLogprob: z.object({ left: z.number(), right: z.number() }).nullable(),
    leastRatio: number,
    greatestRatio: number,
    sequenceDelta: number.describe('Sum of right − left: the logarithm of the sequence-level ratio.'),
    k1: number.describe('Mean of −log r over units, r = p_right / p_left.'),
    k3: number.describe('Mean of (r − 1) − log r over units.'),
    effectiveShare: number,
  }),
  noise: z
    .object({ left: noise, right: noise })
    .describe('|prefill − sampled| of each side’s own ids: compare the differences with it.'),
  spans: z
    .array(
      z.object({
        left: spanSum,
        right: spanSum,
        trained: count,
        delta: number.describe('Sum of the right side − sum of the left side. null: no ratio.'),
        ratio: number,
        why: z
          .enum(['other-text', 'one-side', 'first-token', 'not-scored'])
          .exactOptional()
          .describe('Why there is no ratio.'),
      }),
    )
    .describe('One entry for each span of the report, in its order.'),
  difference: difference
    .exactOptional()
    .describe('The difference between the servers over the same ids. Omitted: the sides have different ids.'),
  clip: z
    .object({ tokens: count, of: count, weightKept: number })
    .exactOptional()
    .describe(
      'Trained tokens whose weight the correction changes, and the share of the gradient’s weight that is kept.',
    ),
})
/** Answer: totals, noise floor and spans of a rescored comparison. Differences are in nats. */
export type RescoreAnswer = Plain<z.infer<typeof rescoreAnswerSchema>>

/**
 * Returns a rescoring as the API answers it. `clip` is the correction to preview; undefined: none. `found` is the difference between the
 * servers; undefined if the sides have different ids.
 */
export function rescoreAnswer(
  rescoring: Rescoring,
  scored: ScoresOfBoth,
  clip: RescoreRequest['clip'],
  found?: ServerDifference,
): RescoreAnswer {
  const { totals, units, unknown, unpaired, spans, noise } = rescoring
  const ratioAt = (unit: number | undefined) =>
    unit === undefined ? null : finiteOrNull(ratioOf(float64At(units.deltas, unit)))
  const effect = clip && clipEffect(ratioOrder(units), clip)
  return {
    servers: { left: serverAnswer(scored.left), right: serverAnswer(scored.right) },
    totals: {
      trainedTokens: totals.trainedTokens,
      rescoredTokens: totals.rescoredTokens,
      units: totals.units,
      unknown,
      unpaired,
      meanLogprob: totals.meanLogprob ?? null,
      leastRatio: ratioAt(totals.least),
      greatestRatio: ratioAt(totals.greatest),
      sequenceDelta: finiteOrNull(totals.delta),
      k1: finiteOrNull(totals.k1),
      k3: finiteOrNull(totals.k3),
      effectiveShare: finiteOrNull(totals.effectiveShare),
    },
    noise: { left: noiseAnswer(noise.left), right: noiseAnswer(noise.right) },
    spans: spans.map(({ left, right, trained, ratio }) => ({
      left,
      right,
      trained,
      ...(ratio.kind === 'known'
        ? { delta: ratio.delta, ratio: finiteOrNull(ratioOf(ratio.delta)) }
        : { delta: null, ratio: null, why: ratio.why }),
    })),
    ...(found && {
      difference: {
        spread: found.spread,
        ...(found.noise && { noise: found.noise }),
        floor: found.floor ?? null,
        above: found.above ?? null,
        jump: found.jump ?? null,
      },
    }),
    ...(effect && { clip: { tokens: effect.tokens, of: effect.of, weightKept: finiteOrNull(effect.weightKept) } }),
  }
}

const finiteOrNull = (value: number | undefined): number | null =>
  value === undefined || !Number.isFinite(value) ? null : value

function serverAnswer(gathered: ScoringResult | undefined): RescoreAnswer['servers']['left'] {
  if (!gathered) return null
  const { name, modelName, weightVersion, tokenizer }: ScoringServer = gathered.server
  return {
    name,
    ...(modelName !== undefined && { modelName }),
    weightVersions: gathered.versions.length > 0 || weightVersion === undefined ? gathered.versions : [weightVersion],
    ...(tokenizer && { tokenizer: tokenizer.fingerprint }),
  }
}

const noiseAnswer = ({
  differences,
  spread,
  temperatures,
  apart,
  narrowed,
}: NoiseFloor): RescoreAnswer['noise']['left'] => ({
  tokens: differences.length,
  temperatures,
  mean: finiteOrNull(spread?.mean),
  median: finiteOrNull(spread?.median),
  p95: finiteOrNull(spread?.p95),
  max: finiteOrNull(spread?.max),
  bias: finiteOrNull(spread?.bias),
  apart,
  narrowed,
})
