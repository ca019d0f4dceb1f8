/** Defines the comparison of a render with another renderer: the server's own template, or the user's Python. */
import * as z from 'zod'

/** The answer of POST /api/templates/check. */
export const templateCheckSchema = z.object({
  judge: z.enum(['server', 'python']),
  version: z.string().optional().describe('The renderer that was used. Omitted: it could not be called.'),
  verdict: z
    .enum(['same', 'differs', 'unavailable'])
    .describe('same: equal text and ids, or both raise the same error.'),
  detail: z.string().describe('The result in one sentence.'),
  firstDifference: z
    .object({
      unit: z.enum(['character', 'token']),
      at: z.int().describe('Index of the first difference, from 0. Characters are UTF-16 code units.'),
      ours: z.string().describe('The text from that index.'),
      theirs: z.string(),
    })
    .optional(),
})
/** Verdict of another renderer on a render. */
export type TemplateCheck = Readonly<z.infer<typeof templateCheckSchema>>
