/** Defines branches of a trajectory in the HTTP API. */
import * as z from 'zod/mini'
import type { SamplingRequest } from '#lib/sampling/values.ts'
import { forkKinds } from '#lib/trajectory/format/fork-kinds.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'

const tokenId = z.int().check(z.minimum(0))

/** Most branches of one request. */
export const MOST_BRANCHES = 64

/** Schema of the tokens that a branch inserts. */
export const forceSchema = withDescription(
  z.union([
    z.strictObject({
      alternative: withDescription(tokenId, 'The id of one of the recorded alternatives at the position.'),
    }),
    z.strictObject({
      text: withDescription(
        z.string().check(z.minLength(1), z.maxLength(1_000_000)),
        'A text. The tokenizer encodes it without a token before it, and special tokens in it become their ids.',
      ),
    }),
    z.strictObject({
      ids: withDescription(
        z.array(tokenId).check(z.minLength(1), z.maxLength(1_000_000)),
        'Token ids, inserted unchanged.',
      ),
    }),
  ]),
  'Tokens that are inserted at the position. They have the loss mask 0 and no logprob. Omitted: the model samples the token at the position.',
)

/** Tokens that a branch inserts. */
export type Force = Plain<z.infer<typeof forceSchema>>

/** Schema of the edit of a message. */
export const editSchema = withDescription(
  z.strictObject({
    message: withDescription(
      z.exactOptional(z.int().check(z.minimum(0))),
      'Index among the messages of the prompt segment. Omitted: the segment has only one.',
    ),
    text: withDescription(
      z.string().check(z.maxLength(1_000_000)),
      'The new text of the message or of the tool result.',
    ),
  }),
  'Edits a message of the prompt segment with the position. The chat template is applied again from this segment on.',
)

/** The answer of POST /api/trajectories/{key}/branch. */
export const branchesStartedSchema = z.object({
  keys: withDescription(z.array(z.string()), 'Keys of the new trajectories.'),
  kind: withDescription(z.enum(forkKinds), 'How they differ from the trajectory.'),
  shared: withDescription(z.int().check(z.minimum(0)), 'Number of tokens that they share with the trajectory.'),
  rollouts: withDescription(z.array(z.string()), 'Ids of their runs, in the same order. Empty: nothing is sampled.'),
  groupId: withDescription(z.exactOptional(z.string()), 'The group of several branches. Omitted: there is one branch.'),
})
/** The new branches of a trajectory. */
export type BranchesStarted = Plain<z.infer<typeof branchesStartedSchema>>

/** The body of a request for branches, as a page sends it. */
export interface BranchBody {
  readonly at: number
  readonly force?: Force
  readonly edit?: { readonly message: number; readonly text: string }
  readonly n: number
  readonly server?: string
  readonly sampling?: SamplingRequest
  readonly limits?: Readonly<Record<string, number>>
}
