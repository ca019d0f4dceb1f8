/** Defines structured output: JSON that a server wrote for a schema. */
import * as z from 'zod'

/** The answer of POST /api/trajectories/{key}/structured. */
export const structuredAnswerSchema = z.object({
  text: z.string().describe('As it was written, without the token that ended it.'),
  value: z.json().optional().describe('The text as JSON. Omitted: it is none.'),
  problem: z.string().optional().describe('Why it is no JSON, or does not fit the schema. Omitted: it fits.'),
  promptTokens: z.int(),
  completionTokens: z.int(),
  cachedTokens: z.int().optional(),
})
/** The text and its JSON, or why it does not fit the schema. */
export type StructuredAnswer = z.infer<typeof structuredAnswerSchema>
