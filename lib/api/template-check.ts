/** Defines the comparison of a render with another renderer: the server's own template, or the user's Python. */
import * as z from 'zod'

/** The answer of POST /api/templates/check. */
export const templateCheckSchema = z.object({
  judge: z.enum(['server', 'python']),
  version: z.string().optional().describe('Which one was asked. Omitted: it could not be asked.'),
  verdict: z
    .enum(['same', 'differs', 'unavailable'])
    .describe('same: equal text and ids, or both refuse in the same words.'),
  detail: z.string().describe('The verdict in a sentence.'),
  firstDifference: z
    .object({
      unit: z.enum(['character', 'token']),
      at: z.int().describe('From 0; characters are UTF-16 code units.'),
      ours: z.string().describe('The text from there on.'),
      theirs: z.string(),
    })
    .optional(),
})
/** Verdict of another renderer on a render. */
export type TemplateCheck = Readonly<z.infer<typeof templateCheckSchema>>
