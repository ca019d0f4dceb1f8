/** Ids scored by a server as a prompt, which tells their logprobs at temperature 1: the question, and the answer line by line. */
import * as z from 'zod'
import { schemas } from '#lib/trajectory/format/trajectory.ts'
import type { Plain } from '#lib/util/plain.ts'

const span = z.object({ start: z.int().min(0), end: z.int().min(0) })

export const scoreRequestSchema = z
  .strictObject({
    ids: z.array(z.int().min(0)).min(1).describe('Token ids of the server’s own tokenizer.'),
    server: z.string().exactOptional().describe('Name of a saved server. Default: the default one.'),
    startLen: z
      .int()
      .min(0)
      .exactOptional()
      .describe('The first position that is scored; the very first token has no logprob. Default 0. Without `ranges`.'),
    ranges: z
      .array(span)
      .min(1)
      .exactOptional()
      .describe(
        'Half-open ranges of positions, rising, to be scored one after the other on growing prefixes; then the answer comes line by line.',
      ),
    topLogprobs: z.int().min(0).max(20).exactOptional().describe('Alternatives for each position. Default 0.'),
  })
  .refine(({ ids, startLen = 0 }) => startLen < ids.length, { message: '"startLen" smaller than the number of ids' })
  .refine(({ startLen, ranges }) => startLen === undefined || ranges === undefined, {
    message: 'either "startLen" or "ranges"',
  })
  .refine(
    ({ ids, ranges = [] }) =>
      ranges.every(
        ({ start, end }, index) => start < end && end <= ids.length && start >= (ranges[index - 1]?.end ?? 0),
      ),
    { message: '"ranges" that rise, are not empty and lie within the ids' },
  )
export type ScoreRequest = Plain<z.infer<typeof scoreRequestSchema>>

const scoringServerSchema = z.object({
  name: z.string(),
  modelName: z.string().exactOptional(),
  weightVersion: z.string().exactOptional(),
  tokenizer: z
    .object({ name: z.string(), fingerprint: z.string() })
    .exactOptional()
    .describe('Omitted: its files cannot be had here.'),
})
export type ScoringServer = Plain<z.infer<typeof scoringServerSchema>>

const scoresSchema = z.object({
  start: z.int().describe('The position of the first one.'),
  logprobs: z
    .array(z.number().nullable())
    .describe('Natural logarithms at temperature 1; null = unknown, as of the very first token.'),
  topLogprobs: schemas.topLogprobs.exactOptional(),
  weightVersion: z.string().exactOptional().describe('Of the weights that answered. Omitted: not said.'),
  cachedTokens: z.int().exactOptional().describe('Taken from the prefix cache. Omitted: not said.'),
})
export type Scores = Plain<z.infer<typeof scoresSchema>>

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
export type ScoreLine = Plain<z.infer<typeof scoreLineSchema>>

export const scoreAnswerSchema = z.object({ server: scoringServerSchema, ...scoresSchema.shape })
