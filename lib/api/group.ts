/** Defines groups of samples in the HTTP API. */
import * as z from 'zod/mini'
import { rewardRuleSchema } from '#lib/trajectory/reward/rule.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { summarySchema } from './library.ts'
import { runStartedSchema } from './run-request.ts'

/** The answer of POST /api/groups. */
export const groupStartedSchema = z.object({
  groupId: z.string(),
  samples: withDescription(z.array(runStartedSchema), 'The samples in the order of their index.'),
})
/** Ids of a new group and of its runs. */
export type GroupStarted = Plain<z.infer<typeof groupStartedSchema>>

/** The answer of GET /api/groups/{id}. */
export const groupSchema = z.object({
  groupId: z.string(),
  reward: withDescription(z.nullable(rewardRuleSchema), 'The reward rule. null: none.'),
  isRunning: withDescription(
    z.boolean(),
    'Whether a sample of the group is running. A sample that is continued after its end is a separate rollout.',
  ),
  samples: withDescription(z.array(summarySchema), 'The samples that are not deleted, in the order of their index.'),
})
/** A group of samples with its reward rule and its rows. */
export type Group = Plain<z.infer<typeof groupSchema>>
