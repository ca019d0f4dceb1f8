/** Defines the preview of a prompt that is given as text or ids. */
import * as z from 'zod/mini'
import { schemas } from '#lib/trajectory/format/trajectory.ts'
import { withDescription } from '#lib/util/with-description.ts'

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
  tokenizer: withDescription(z.string(), 'Name of the tokenizer.'),
  count: withDescription(z.int(), 'Number of tokens.'),
  head: withDescription(z.readonly(z.array(z.int())), 'The first ids.'),
  tail: withDescription(z.readonly(z.array(z.int())), 'The last ids. Empty if `head` contains all ids.'),
  vocab: withDescription(z.readonly(z.record(z.string(), schemas.vocabEntry)), 'The texts of these ids.'),
  specialIds: withDescription(z.readonly(z.array(z.int())), 'Ids among these that are added tokens.'),
  notes: withDescription(
    z.readonly(z.array(z.string())),
    'Notes that a trajectory with this prompt would contain: added tokens, or a text that differs from the ids.',
  ),
})
/** First and last ids that would be sent, with their texts. */
export type PromptPreview = z.infer<typeof promptPreviewSchema>
