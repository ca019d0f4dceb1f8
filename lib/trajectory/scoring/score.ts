/**
 * Scoring: a server reads ids as a prompt and returns their logprobs at temperature 1. Schemas of the request and of
 * the lines of the answer.
 */
import * as z from 'zod/mini'
import { schemas } from '#lib/trajectory/format/trajectory.ts'
import { imageDataOf } from '#lib/trajectory/images/image-boxes.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'

const adapterName = z.exactOptional(z.string().check(z.minLength(1), z.maxLength(500)))
const range = z.object({
  start: z.int().check(z.minimum(0)),
  end: z.int().check(z.minimum(0)),
  adapter: withDescription(adapterName, 'Of this range. Default: the adapter of the request.'),
})

/** Schema of a scoring request. */
export const scoreRequestSchema = z
  .strictObject({
    ids: withDescription(
      z.array(z.int().check(z.minimum(0))).check(z.minLength(1)),
      'Token ids of the server’s tokenizer.',
    ),
    server: withDescription(z.exactOptional(z.string()), 'Name of a saved server. Default: the default server.'),
    startLen: withDescription(
      z.exactOptional(z.int().check(z.minimum(0))),
      'The first scored position; the first token has no logprob. Default 0. Not with `ranges`.',
    ),
    ranges: withDescription(
      z.exactOptional(z.array(range).check(z.minLength(1))),
      'Half-open ranges of positions in ascending order. They are scored one after the other on growing prefixes, and the answer is streamed as lines.',
    ),
    adapter: withDescription(adapterName, 'Name of the LoRA adapter that scores. Omitted: none, the server’s default.'),
    routedExperts: withDescription(
      z.exactOptional(z.boolean()),
      'Return which experts of a mixture of experts read each position. Default false.',
    ),
    images: withDescription(
      z.exactOptional(z.array(z.string()).check(z.minLength(1))),
      'Data URLs of the images of the ids, in the order of their placeholders. Omitted: none.',
    ),
    topLogprobs: withDescription(
      z.exactOptional(z.int().check(z.minimum(0), z.maximum(20))),
      'Alternatives for each position. Default 0.',
    ),
  })
  .check(
    z.refine(({ ids, startLen = 0 }) => startLen < ids.length, {
      message: 'a "startLen" smaller than the number of ids',
    }),
    z.refine(({ startLen, ranges }) => startLen === undefined || ranges === undefined, {
      message: 'either "startLen" or "ranges"',
    }),
    z.refine(
      ({ ids, ranges = [] }) =>
        ranges.every(
          ({ start, end }, index) => start < end && end <= ids.length && start >= (ranges[index - 1]?.end ?? 0),
        ),
      { message: 'ascending, non-empty "ranges" within the ids' },
    ),
  )
/** A scoring request. */
export type ScoreRequest = Plain<z.infer<typeof scoreRequestSchema>>

/** Returns the images of a scoring request for the ids of a trajectory; no field if it has none. */
export function imagesToScore(trajectory: Parameters<typeof imageDataOf>[0]): Pick<ScoreRequest, 'images'> {
  const images = imageDataOf(trajectory)
  return images.length > 0 ? { images } : {}
}

const scoringServerSchema = z.object({
  name: z.string(),
  modelName: z.exactOptional(z.string()),
  weightVersion: z.exactOptional(z.string()),
  tokenizer: withDescription(
    z.exactOptional(z.object({ name: z.string(), fingerprint: z.string() })),
    'Fingerprint of the tokenizer. Omitted: its files are not available here.',
  ),
})
/** The server that scored. */
export type ScoringServer = Plain<z.infer<typeof scoringServerSchema>>

const scoresSchema = z.object({
  start: withDescription(z.int(), 'Position of the first score.'),
  logprobs: withDescription(
    z.array(z.nullable(z.number())),
    'Natural logarithms at temperature 1; null = unknown, as for the first token.',
  ),
  topLogprobs: z.exactOptional(schemas.topLogprobs),
  routedExperts: withDescription(
    z.exactOptional(schemas.routedExperts),
    'Of the positions from the one before `start` to the last but one. Omitted: not requested.',
  ),
  weightVersion: withDescription(z.exactOptional(z.string()), 'Weights that answered. Omitted: not reported.'),
  cachedTokens: withDescription(z.exactOptional(z.int()), 'Tokens taken from the prefix cache. Omitted: not reported.'),
})
/** Scores of a range of positions. */
export type Scores = Plain<z.infer<typeof scoresSchema>>

/** Schema of a line of the answer. */
export const scoreLineSchema = z.discriminatedUnion('kind', [
  z.extend(scoringServerSchema, { kind: z.literal('server') }),
  z.extend(scoresSchema, { kind: z.literal('scores') }),
  z.object({ kind: z.literal('done') }),
  z.object({
    kind: z.literal('failed'),
    code: z.string(),
    detail: z.string(),
    hint: z.exactOptional(z.string()),
  }),
])
/** A line of the answer. */
export type ScoreLine = Plain<z.infer<typeof scoreLineSchema>>

/** Schema of an answer without ranges. */
export const scoreAnswerSchema = z.object({ server: scoringServerSchema, ...scoresSchema.shape })
