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
  tokenizer: z.string().describe('Name of the tokenizer.'),
  count: z.int().describe('Number of tokens.'),
  head: z.array(z.int()).readonly().describe('The first ids.'),
  tail: z.array(z.int()).readonly().describe('The last ids. Empty if `head` contains all ids.'),
  vocab: z.record(z.string(), schemas.vocabEntry).readonly().describe('The texts of these ids.'),
  specialIds: z.array(z.int()).readonly().describe('Ids among these that are added tokens.'),
  notes: z
    .array(z.string())
    .readonly()
    .describe(
      'Notes that a trajectory with this prompt would contain: added tokens, or a text that differs from the ids.',
    ),
})
/** First and last ids that would be sent, with their texts. */
export type PromptPreview = z.infer<typeof promptPreviewSchema>
