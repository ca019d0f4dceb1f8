/** Defines what a session saved, compared with a chat pipeline. */
import * as z from 'zod/mini'
import { withDescription } from '#lib/util/with-description.ts'

const count = z.int().check(z.minimum(0))

const counts = {
  drifts: withDescription(
    count,
    'Drift spans that a chat pipeline would have, without those that change nothing that is trained.',
  ),
  trainedTokens: withDescription(count, 'Trained tokens inside of these spans.'),
  cachedTokens: withDescription(
    count,
    'Tokens of the prefix cache that the prompts of a chat pipeline would not have used.',
  ),
  rows: withDescription(count, 'Training rows of a chat pipeline. A leaf of a session is one row.'),
}

/** The answer of GET /api/sessions/{id}/savings. */
export const sessionSavingsSchema = z.object({
  leaves: z.array(
    z.object({
      node: withDescription(count, 'Number of the leaf in the forest.'),
      ...counts,
      caveats: withDescription(z.array(z.string()), 'What could not be compared, in sentences.'),
    }),
  ),
  total: withDescription(z.object(counts), 'Sums over the leaves.'),
})

/** What the chosen leaves of a session saved. */
export type SessionSavings = z.infer<typeof sessionSavingsSchema>
/** What one leaf saved. */
export type LeafSavings = SessionSavings['leaves'][number]
/** The numbers of one leaf, or their sums over several. */
export type SavedCounts = SessionSavings['total']

const sums = { leaves: withDescription(count, 'Number of leaves, each of which is one training row.'), ...counts }

/** The answer of GET /api/savings. */
export const allSavingsSchema = z.object({
  total: withDescription(z.object(sums), 'Sums over the sessions.'),
  sessions: withDescription(
    z.array(z.object({ id: z.string(), ...sums })),
    'Sums over the leaves of each session that was compared. Sessions in the mode observe are left out.',
  ),
  waiting: withDescription(
    count,
    'Sessions that have grown or were never compared. They are compared after this answer.',
  ),
  failed: withDescription(
    count,
    'Sessions that could not be compared, for example because their server did not answer. They are tried again a minute later.',
  ),
})
/** What all listed sessions saved, as far as it is known. */
export type AllSavings = z.infer<typeof allSavingsSchema>
/** Sums over leaves, with their number. */
export type SavedSums = AllSavings['total']
