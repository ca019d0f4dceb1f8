/**
 * Scoring: a server reads ids as a prompt and returns their logprobs at temperature 1. Schemas of the request and of
 * the lines of the answer.
 */
import * as z from 'zod'
import { schemas } from '#lib/trajectory/format/trajectory.ts'
import type { Plain } from '#lib/util/plain.ts'

const span = z.object({ start: z.int().min(0), end: z.int().min(0) })

/** Schema of a scoring request. */
export const scoreRequestSchema = z
  .strictObject({
    ids: z.array(z.int().min(0)).min(1).describe('Token ids of the server’s tokenizer.'),
    server: z.string().exactOptional().describe('Name of a saved server. Default: the default server.'),
    startLen: z
      .int()
      .min(0)
      .exactOptional()
      .describe('The first scored position; the first token has no logprob. Default 0. Not with `ranges`.'),
    ranges: z
      .array(span)
      .min(1)
      .exactOptional()
      .describe(
        'Half-open ranges of positions in ascending order. They are scored one after the other on growing prefixes, and the answer is streamed as lines.',
      ),
    topLogprobs: z.int().min(0).max(20).exactOptional().describe('Alternatives for each position. Default 0.'),
  })
  .refine(({ ids, startLen = 0 }) => startLen < ids.length, { message: 'a "startLen" smaller than the number of ids' })
  .refine(({ startLen, ranges }) => startLen === undefined || ranges === undefined, {
    message: 'either "startLen" or "ranges"',
  })
  .refine(
    ({ ids, ranges = [] }) =>
      ranges.every(
        ({ start, end }, index) => start < end && end <= ids.length && start >= (ranges[index - 1]?.end ?? 0),
      ),
    { message: 'ascending, non-empty "ranges" within the ids' },
  )
/** A scoring request. */
export type ScoreRequest = Plain<z.infer<typeof scoreRequestSchema>>

const scoringServerSchema = z.object({
  name: z.string(),
  modelName: z.string().exactOptional(),
  weightVersion: z.string().exactOptional(),
  tokenizer: z
    .object({ name: z.string(), fingerprint: z.string() })
    .exactOptional()
    .describe('Fingerprint of the tokenizer. Omitted: its files are not available here.'),
})
/** The server that scored. */
export type ScoringServer = Plain<z.infer<typeof scoringServerSchema>>

const scoresSchema = z.object({
  start: z.int().describe('Position of the first score.'),
  logprobs: z
    .array(z.number().nullable())
    .describe('Natural logarithms at temperature 1; null = unknown, as for the first token.'),
  topLogprobs: schemas.topLogprobs.exactOptional(),
  weightVersion: z.string().exactOptional().describe('Weights that answered. Omitted: not reported.'),
  cachedTokens: z.int().exactOptional().describe('Tokens taken from the prefix cache. Omitted: not reported.'),
})
/** Scores of a range of positions. */
export type Scores = Plain<z.infer<typeof scoresSchema>>

/** Schema of a line of the answer. */
export const scoreLineSchema = z.discriminatedUnion('kind', [
  scoringServerSchema.extend({ kind: z.literal('server') }),
  scoresSchema.extend({ kind: z.literal('scores') }),
  z.object({ kind: z.literal('done') }),
  z.object({
    kind: z.literal('failed'),
    code: z.string(),
    detail: z.string(),
    hint: z.string().exactOptional(),
  }),
])
/** A line of the answer. */
export type ScoreLine = Plain<z.infer<typeof scoreLineSchema>>

/** Schema of an answer without ranges. */
export const scoreAnswerSchema = z.object({ server: scoringServerSchema, ...scoresSchema.shape })
