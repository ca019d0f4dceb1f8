/** Defines structured output: JSON that a server wrote for a schema. */
import * as z from 'zod/mini'
import { withDescription } from '#lib/util/with-description.ts'

/** The answer of POST /api/trajectories/{key}/structured. */
export const structuredAnswerSchema = z.object({
  text: withDescription(z.string(), 'The text of the response, without the token that ended it.'),
  value: withDescription(z.optional(z.json()), 'The value of the JSON. Omitted: the text is not JSON.'),
  problem: withDescription(
    z.optional(z.string()),
    'Why the text is not JSON, or does not match the schema. Omitted: it matches.',
  ),
  promptTokens: z.int(),
  completionTokens: z.int(),
  cachedTokens: z.optional(z.int()),
})
/** The text and its JSON, or why it does not fit the schema. */
export type StructuredAnswer = z.infer<typeof structuredAnswerSchema>
