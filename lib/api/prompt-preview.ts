/** Defines the preview of a prompt that is given as text or ids. */
import * as z from 'zod'
import { schemas } from '#lib/trajectory/format/trajectory.ts'

/** The prompt to preview, with the server and tokenizer of the run. */
export interface PreviewQuestion {
  readonly text?: string
  /** Ids have priority over `text`. */
  readonly ids?: readonly number[]
  readonly server?: string
  readonly tokenizer?: string
}

/** The answer of POST /api/tokenize. */
export const promptPreviewSchema = z.object({
  tokenizer: z.string().describe('Its name.'),
  count: z.int().describe('Tokens in all.'),
  head: z.array(z.int()).readonly().describe('The ids it begins with.'),
  tail: z.array(z.int()).readonly().describe('The ids it ends with; empty where `head` is all of it.'),
  vocab: z.record(z.string(), schemas.vocabEntry).readonly().describe('The texts of these ids.'),
  specialIds: z.array(z.int()).readonly().describe('Those of them that are added tokens.'),
  notes: z
    .array(z.string())
    .readonly()
    .describe('What the record of such a run would note: added tokens, a text that is not that of the ids.'),
})
/** First and last ids that would be sent, with their texts. */
export type PromptPreview = z.infer<typeof promptPreviewSchema>
