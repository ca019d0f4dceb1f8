/** Defines groups of samples in the HTTP API. */
import * as z from 'zod/mini'
import { rewardRuleSchema } from '#lib/trajectory/reward/rule.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { summarySchema } from './library.ts'
import { runStartedSchema } from './run-request.ts'

/** Schema of a server that runs nothing of a group. */
export const serverRefusalSchema = z.object({
  server: z.string(),
  code: z.string(),
  detail: withDescription(z.string(), 'What the server cannot do, or why it cannot be reached.'),
  hint: z.exactOptional(z.string()),
  field: withDescription(z.exactOptional(z.string()), 'Path of the refused value in the request.'),
})
/** A server of a group that runs nothing, with the reason. */
export type ServerRefusal = Plain<z.infer<typeof serverRefusalSchema>>

/** The answer of POST /api/groups. */
export const groupStartedSchema = z.object({
  groupId: z.string(),
  samples: withDescription(
    z.array(z.extend(runStartedSchema, { server: z.exactOptional(z.string()) })),
    'The samples in the order of their index. With `servers`, each has the name of its server.',
  ),
  refused: withDescription(
    z.exactOptional(z.array(serverRefusalSchema)),
    'Of `servers`: those that were refused before the run. The samples of the others run. Omitted: none was refused.',
  ),
})
/** Ids of a new group and of its runs. */
export type GroupStarted = Plain<z.infer<typeof groupStartedSchema>>

/** The answer of GET /api/groups/{id}. */
export const groupSchema = z.object({
  groupId: z.string(),
  reward: withDescription(z.nullable(rewardRuleSchema), 'The reward rule. null: none.'),
  isRunning: withDescription(
    z.boolean(),
    'Whether this instance runs a sample of the group. A sample that is continued after its end is a separate rollout. Samples that another instance runs have the outcome "running".',
  ),
  samples: withDescription(z.array(summarySchema), 'The samples that are not deleted, in the order of their index.'),
  deleted: withDescription(
    z.exactOptional(z.int().check(z.minimum(1))),
    'Number of samples that were deleted. Omitted: none is known. For imported groups only those of the last day are known.',
  ),
  refused: withDescription(
    z.exactOptional(z.array(serverRefusalSchema)),
    'The servers that were refused before the run. Omitted: none.',
  ),
})
/** A group of samples with its reward rule and its rows. */
export type Group = Plain<z.infer<typeof groupSchema>>
