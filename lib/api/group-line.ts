/** The stream of a group: the events of all its samples. */
import * as z from 'zod'
import { rolloutEventSchema } from '#lib/trajectory/events/event-schema.ts'
import type { Plain } from '#lib/util/plain.ts'

export const groupLineSchema = z.object({
  sample: z.int().min(0).describe('Index of the sample.'),
  event: rolloutEventSchema,
  scored: z
    .object({ reward: z.number().nullable(), why: z.string() })
    .exactOptional()
    .describe('With the event `ended`, where the group has a rule: the reward, null where there is none, and why.'),
})
/** One line of a group’s stream; numbered from 0 over the group. */
export type GroupLine = Plain<z.infer<typeof groupLineSchema>>
