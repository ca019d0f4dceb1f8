/** Defines the comparison of a render with another renderer: the server's own template, or the user's Python. */
import * as z from 'zod/mini'
import { withDescription } from '#lib/util/with-description.ts'

/** The answer of POST /api/templates/check. */
export const templateCheckSchema = z.object({
  renderer: z.enum(['server', 'python']),
  version: withDescription(z.optional(z.string()), 'The renderer that was used. Omitted: it could not be called.'),
  verdict: withDescription(
    z.enum(['same', 'differs', 'unavailable']),
    'same: equal text and ids, or both raise the same error.',
  ),
  detail: withDescription(z.string(), 'The result in one sentence.'),
  firstDifference: z.optional(
    z.object({
      unit: z.enum(['character', 'token']),
      at: withDescription(z.int(), 'Index of the first difference, from 0. Characters are UTF-16 code units.'),
      ours: withDescription(z.string(), 'The text from that index.'),
      theirs: z.string(),
    }),
  ),
})
/** Verdict of another renderer on a render. */
export type TemplateCheck = Readonly<z.infer<typeof templateCheckSchema>>
