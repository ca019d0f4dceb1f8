/** The schema of rollout events, as they are streamed. */
import * as z from 'zod'
import type { Plain } from '#lib/util/plain.ts'
import { schemas, trajectorySchema } from '../format/trajectory.ts'

const { promptSegment, responseSegment, request } = schemas

const vocabulary = {
  vocab: trajectorySchema.shape.vocab.describe('The texts of ids that are new in this trajectory.'),
  specialIds: z.array(z.int().min(0)).describe('Ids among these that are added tokens.'),
}

/** Schema of rollout events. */
export const rolloutEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('started'),
    rolloutId: z.string(),
    trajectory: trajectorySchema.describe('Everything known before, with outcome running.'),
  }),
  z
    .object({
      type: z.literal('segment-started'),
      segment: z.discriminatedUnion('kind', [promptSegment, responseSegment]),
      ...vocabulary,
    })
    .describe('A segment opens and is not yet recorded: a prompt with its ids, a response without any.'),
  z
    .object({ type: z.literal('resumed'), request: request.describe('Its input includes the tokens of the response.') })
    .describe(
      'The last response, which had been stopped, opens again with all its tokens. If it is retracted, it stays unchanged.',
    ),
  z
    .object({
      type: z.literal('tokens'),
      ids: responseSegment.shape.ids,
      logprobs: responseSegment.shape.logprobs,
      topLogprobs: schemas.topLogprobs.optional(),
      ...vocabulary,
    })
    .describe('Tokens of the open response as they arrive.'),
  z
    .object({
      type: z.literal('segment'),
      segment: z.discriminatedUnion('kind', [
        promptSegment.omit({ ids: true, messages: true, derivation: true }),
        responseSegment.omit({ ids: true, logprobs: true, topLogprobs: true, request: true }),
      ]),
      ...vocabulary,
    })
    .describe('The open segment closes and is recorded, with everything that was not sent before.'),
  z
    .object({ type: z.literal('retracted') })
    .describe(
      'The open segment is discarded, because the call failed before its first token. A resumed response returns to its earlier state.',
    ),
  z.object({ type: z.literal('tool-started'), callId: z.string(), startedAt: z.string() }),
  z.object({ type: z.literal('tool-ended'), callId: z.string(), result: schemas.toolResult }),
  z.object({ type: z.literal('ended'), outcome: schemas.outcome }),
])

/** One line of the NDJSON stream, numbered from 0 within its rollout. */
export type RolloutEvent = Plain<z.infer<typeof rolloutEventSchema>>
