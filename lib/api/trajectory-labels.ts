/** Defines what pages read of the labels of a stored trajectory, apart from the list: most pages load none of it. */
import * as z from 'zod/mini'
import { tokenNotesSchema } from '#lib/trajectory/format/token-notes.ts'
import { withDescription } from '#lib/util/with-description.ts'

/** Schema of the notes on the tokens of a trajectory after a change of one of them. */
export const tokenNotesAnswerSchema = z.object({
  notes: withDescription(tokenNotesSchema, 'All notes of the trajectory, in the order of their tokens.'),
})

/** Schema of the number of changes of a stored trajectory, and of its labels. */
export const revisionSchema = z.object({
  revision: withDescription(z.int(), 'It grows with each change of tokens or columns. Labels do not change it.'),
  labels: withDescription(
    z.object({
      title: z.optional(z.string()),
      tags: z.optional(z.array(z.string())),
      note: z.optional(z.string()),
      notes: z.optional(tokenNotesSchema),
      reward: z.optional(z.nullable(z.number())),
    }),
    'The labels as they are now. An omitted one is not set.',
  ),
})
