/** Defines the comparison of the servers of a group. The page loads it only for such a group. */
import * as z from 'zod/mini'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'

const count = z.int().check(z.minimum(0))
const nats = z.number().check(z.minimum(0))
const memberSchema = z.object({
  key: z.string(),
  index: withDescription(count, 'Index of the sample in the group.'),
  server: withDescription(z.string(), 'Name of the server that sampled it.'),
  outcomeKind: z.enum(['ended', 'failed']),
  outcome: withDescription(z.string(), 'A reason such as `end_turn`, or the code of a failure.'),
  tokens: count,
})

/** The answer of GET /api/groups/{id}/servers. */
export const serverComparisonSchema = z.object({
  servers: withDescription(z.array(z.string()), 'The servers of the group, in the order of their samples.'),
  reference: withDescription(z.string(), 'The server with whose samples the others are compared.'),
  running: withDescription(count, 'Samples that have not ended. They are not compared.'),
  comparisons: withDescription(
    z.array(
      z.object({
        sample: memberSchema,
        reference: withDescription(
          memberSchema,
          'The sample of the reference server with the same place among its samples.',
        ),
        common: withDescription(count, 'Number of leading ids that both have.'),
        divergence: withDescription(
          z.nullable(z.object({ token: count, kind: z.enum(['prompt', 'response', 'end']) })),
          'The first token that differs. prompt: given tokens differ; response: sampled tokens differ; end: one of both ends. null: all ids are equal.',
        ),
        chance: withDescription(
          z.nullable(z.string()),
          'Why the ids may differ by chance. null: both were sampled greedily.',
        ),
        logprobs: z.object({
          spread: withDescription(
            z.nullable(z.object({ tokens: count, mean: nats, median: nats, p95: nats, p99: nats, max: nats })),
            '|Δ| of the logprobs of the tokens that both sampled before the divergence, in nats. null: none can be compared.',
          ),
          kinds: withDescription(z.array(z.string()), 'Kinds at which logprobs were compared, such as `raw`.'),
          assumed: withDescription(z.array(z.string()), 'Why tokens were compared although a kind is unknown.'),
          refused: withDescription(
            z.array(z.object({ why: z.string(), tokens: count })),
            'Tokens whose logprobs have different meanings, which were left out.',
          ),
        }),
      }),
    ),
    'One entry for each sample of another server.',
  ),
})
/** How far the samples of the servers of a group agree. */
export type ServerComparison = Plain<z.infer<typeof serverComparisonSchema>>
