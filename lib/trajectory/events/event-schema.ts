/** The schema of rollout events, as they are streamed. */
import * as z from 'zod/mini'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { schemas, trajectorySchema } from '../format/trajectory.ts'

const { promptSegment, responseSegment, request } = schemas

const vocabulary = {
  vocab: withDescription(trajectorySchema.shape.vocab, 'The texts of ids that are new in this trajectory.'),
  specialIds: withDescription(z.array(z.int().check(z.minimum(0))), 'Ids among these that are added tokens.'),
}

/** Schema of rollout events. */
export const rolloutEventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('started'),
    rolloutId: z.string(),
    trajectory: withDescription(trajectorySchema, 'Everything known before, with outcome running.'),
  }),
  withDescription(
    z.object({
      type: z.literal('segment-started'),
      segment: z.discriminatedUnion('kind', [promptSegment, responseSegment]),
      ...vocabulary,
    }),
    'A segment opens and is not yet recorded: a prompt with its ids, a response without any.',
  ),
  withDescription(
    z.object({
      type: z.literal('resumed'),
      request: withDescription(request, 'Its input includes the tokens of the response.'),
    }),
    'The last response, which had been stopped, opens again with all its tokens. If it is retracted, it stays unchanged.',
  ),
  withDescription(
    z.object({
      type: z.literal('tokens'),
      ids: responseSegment.shape.ids,
      logprobs: responseSegment.shape.logprobs,
      topLogprobs: z.optional(schemas.topLogprobs),
      ...vocabulary,
    }),
    'Tokens of the open response as they arrive.',
  ),
  withDescription(
    z.object({
      type: z.literal('segment'),
      segment: z.discriminatedUnion('kind', [
        z.omit(promptSegment, { ids: true, messages: true, derivation: true }),
        z.omit(responseSegment, { ids: true, logprobs: true, topLogprobs: true, request: true }),
      ]),
      ...vocabulary,
    }),
    'The open segment closes and is recorded, with everything that was not sent before.',
  ),
  withDescription(
    z.object({ type: z.literal('retracted') }),
    'The open segment is discarded, because the call failed before its first token. A resumed response returns to its earlier state.',
  ),
  z.object({ type: z.literal('tool-started'), callId: z.string(), startedAt: z.string() }),
  z.object({ type: z.literal('tool-ended'), callId: z.string(), result: schemas.toolResult }),
  z.object({ type: z.literal('ended'), outcome: schemas.outcome }),
])

/** One line of the NDJSON stream, numbered from 0 within its rollout. */
export type RolloutEvent = Plain<z.infer<typeof rolloutEventSchema>>
