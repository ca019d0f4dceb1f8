/** Defines the tree of a trajectory and its branches in the HTTP API. */
import * as z from 'zod/mini'
import { forkKinds } from '#lib/trajectory/format/fork-kinds.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { summarySchema } from '../library.ts'

const count = z.int().check(z.minimum(0))

/** Schema of the counts of trees. */
export const treeCountsSchema = z.object({
  trees: count,
  leaves: count,
  splits: withDescription(
    count,
    'Positions with several continuations, or with a trajectory that ends where another one continues.',
  ),
  tokens: withDescription(count, 'Tokens of all trajectories.'),
  distinctTokens: withDescription(count, 'Tokens of all nodes: shared ones count once.'),
})

/** Most trajectories of one tree. */
export const MOST_LEAVES = 200

/** The answer of GET /api/trajectories/{key}/tree. */
export const treeSchema = z.object({
  leaves: withDescription(
    z.array(
      z.object({
        row: summarySchema,
        isValueSample: withDescription(z.boolean(), 'Whether it is a sample of a value estimate.'),
        fork: withDescription(
          z.nullable(
            z.object({
              from: z.nullable(count),
              token: count,
              kind: z.enum(forkKinds),
              inserted: withDescription(
                z.nullable(z.object({ text: z.string(), instead: z.nullable(z.string()) })),
                'The beginning of the inserted text, and the token of the other trajectory at its place. null: nothing was inserted, or the other trajectory ends there.',
              ),
              edited: withDescription(
                z.nullable(z.string()),
                'A piece of the new text of the edited message or tool result, from the first word that differs. null: none was edited, or the other trajectory is not stored.',
              ),
              sampled: withDescription(
                z.nullable(z.string()),
                'The first 200 characters that the model sampled after the fork. null: it sampled nothing.',
              ),
            }),
          ),
          'Where it was forked. from: index in `leaves`; null: that trajectory is not stored here. null: it is no fork.',
        ),
      }),
    ),
    'The trajectories of the tree: the one from which all others were forked is first, and samples of value estimates are last.',
  ),
  nodes: withDescription(
    z.array(
      z.object({
        parent: withDescription(z.nullable(count), 'Index in `nodes`. null: a root.'),
        kind: z.enum(['prompt', 'response']),
        start: withDescription(count, 'Index of its first token.'),
        end: withDescription(count, 'Index after its last token.'),
        opensSegment: withDescription(z.boolean(), 'Whether its first token is the first one of a segment.'),
        leaves: withDescription(z.array(count), 'The trajectories that end here, as indices in `leaves`.'),
      }),
    ),
    'Tokens without a split between them. Each node comes after its parent.',
  ),
  counts: treeCountsSchema,
  leftOut: withDescription(
    count,
    `Trajectories that are not listed: a tree has at most ${MOST_LEAVES}, its latest branches.`,
  ),
})
/** The tree of a trajectory. */
export type Tree = Plain<z.infer<typeof treeSchema>>
