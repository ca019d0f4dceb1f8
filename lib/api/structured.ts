/** Defines structured output: JSON that a server wrote for a schema. */
import * as z from 'zod'

/** The answer of POST /api/trajectories/{key}/structured. */
export const structuredAnswerSchema = z.object({
  text: z.string().describe('The text of the response, without the token that ended it.'),
  value: z.json().optional().describe('The value of the JSON. Omitted: the text is not JSON.'),
  problem: z
    .string()
    .optional()
    .describe('Why the text is not JSON, or does not match the schema. Omitted: it matches.'),
  promptTokens: z.int(),
  completionTokens: z.int(),
  cachedTokens: z.int().optional(),
})
/** The text and its JSON, or why it does not fit the schema. */
export type StructuredAnswer = z.infer<typeof structuredAnswerSchema>
