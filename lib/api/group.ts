/** Defines groups of samples in the HTTP API. */
import * as z from 'zod'
import { rewardRuleSchema } from '#lib/trajectory/reward/rule.ts'
import type { Plain } from '#lib/util/plain.ts'
import { summarySchema } from './library.ts'
import { runStartedSchema } from './run-request.ts'

/** The answer of POST /api/groups. */
export const groupStartedSchema = z.object({
  groupId: z.string(),
  samples: z.array(runStartedSchema).describe('The samples in the order of their index.'),
})
/** Ids of a new group and of its runs. */
export type GroupStarted = Plain<z.infer<typeof groupStartedSchema>>

/** The answer of GET /api/groups/{id}. */
export const groupSchema = z.object({
  groupId: z.string(),
  reward: rewardRuleSchema.nullable().describe('The reward rule. null: none.'),
  isRunning: z
    .boolean()
    .describe(
      'Whether a sample of the group is running. A sample that is continued after its end is a separate rollout.',
    ),
  samples: z.array(summarySchema).describe('The samples that are not deleted, in the order of their index.'),
})
/** A group of samples with its reward rule and its rows. */
export type Group = Plain<z.infer<typeof groupSchema>>
