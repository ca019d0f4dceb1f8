/** Defines the rows and sort orders of the library. The store, the HTTP API and the page use the same ones. */
import * as z from 'zod/mini'
import { forkKinds } from '#lib/trajectory/format/fork-kinds.ts'
import { MISSING_CONTENTS } from '#lib/trajectory/format/missing-content.ts'
import { healthGistSchema } from '#lib/trajectory/health/health.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'

/** Deleted trajectories can be restored for at least this long. */
export const KEPT_DELETED_MS = 24 * 60 * 60_000

/** Schema of one row of the library. */
export const summarySchema = z.object({
  key: withDescription(
    z.string(),
    'The key of the trajectory: its id, with a suffix if another trajectory has the same id.',
  ),
  id: z.string(),
  createdAt: z.string(),
  addedAt: withDescription(z.string(), 'When it was stored here, ISO 8601.'),
  title: withDescription(z.nullable(z.string()), 'null: no title.'),
  question: withDescription(
    z.string(),
    'The beginning of the first question, or the name of the imported file if there is no question.',
  ),
  tags: z.array(z.string()),
  note: z.nullable(z.string()),
  reward: z.nullable(z.number()),
  model: z.nullable(z.string()),
  outcomeKind: z.enum(['running', 'ended', 'failed']),
  outcome: withDescription(z.string(), '`running`, a reason such as `end_turn`, or the code of a failure.'),
  source: withDescription(
    z.enum(['rollout', 'import', 'fork', 'retokenized', 'recorded']),
    'import: opened from a file or pushed, files of Rollscope included.',
  ),
  importFormat: withDescription(z.nullable(z.string()), 'Format of the imported file. null: not imported.'),
  missing: withDescription(z.array(z.enum(MISSING_CONTENTS)), 'What the imported file lacks.'),
  isEncodedAgain: withDescription(
    z.boolean(),
    'The file had texts: a tokenizer encoded them when it was opened, and no model sampled the ids.',
  ),
  segments: z.int(),
  turns: withDescription(z.int(), 'Responses of the model.'),
  tokens: z.int(),
  trained: z.int(),
  meanLogprob: withDescription(z.nullable(z.number()), 'Mean over trained tokens with a known logprob, in nats.'),
  toolCalls: withDescription(
    z.nullable(z.int()),
    'null: unknown, because the file has only ids, and no parser has read their texts.',
  ),
  failedCalls: withDescription(z.nullable(z.int()), 'Tool calls that failed or are malformed. null: unknown.'),
  group: withDescription(
    z.nullable(z.object({ id: z.string(), index: z.int(), server: z.exactOptional(z.string()) })),
    'The group of the sample, its index in the group, and its server if the group has samples of several servers. null: unknown, or no group.',
  ),
  fork: withDescription(
    z.nullable(
      z.object({
        from: withDescription(z.string(), 'The id of the other trajectory.'),
        token: withDescription(z.int(), 'The first token that may differ.'),
        kind: z.enum(forkKinds),
      }),
    ),
    'From which trajectory it was forked, and where. null: it is no fork.',
  ),
  rewardWhy: withDescription(
    z.nullable(z.string()),
    'Why the rule of the group, or the reward of the session, gave this reward or none. null: no rule scored it.',
  ),
  health: withDescription(
    z.nullable(healthGistSchema),
    'null: not checked since the last change. Checks run in the background.',
  ),
})
/** Row of a stored trajectory in the library. */
export type TrajectorySummary = Plain<z.infer<typeof summarySchema>>

const groupSchema = z.object({
  id: z.string(),
  keys: withDescription(
    z.array(z.string()),
    'Keys of all samples in the order of their index, including those that the filter excludes.',
  ),
  matching: withDescription(z.int(), 'Number of samples that match the filter.'),
  running: withDescription(z.int(), 'Number of samples that are running.'),
  rewards: withDescription(
    z.nullable(z.object({ known: z.int(), mean: z.number(), min: z.number(), max: z.number() })),
    'Rewards of the samples that have one. null: no sample has one.',
  ),
  isFlat: withDescription(
    z.boolean(),
    'Several samples, all with the same reward: all advantages in GRPO are 0, and the group gives no gradient.',
  ),
})
/** A group of samples as one row of a list. */
export type GroupSummary = Plain<z.infer<typeof groupSchema>>

/** The answer of GET /api/trajectories. */
export const pageSchema = z.object({
  trajectories: z.array(summarySchema),
  groups: withDescription(
    z.exactOptional(z.array(groupSchema)),
    'The groups on this page, if groups are folded: each row represents its whole group. Omitted: groups are not folded.',
  ),
  cut: withDescription(
    z.exactOptional(
      z.object({
        samples: z.int(),
        longer: withDescription(z.int(), 'Samples with more tokens than the trainer accepts.'),
        losing: withDescription(z.int(), 'Samples that lose trained tokens.'),
        lost: withDescription(z.int(), 'Trained tokens that are lost.'),
        trained: withDescription(z.int(), 'Trained tokens of all samples.'),
        unknown: withDescription(z.int(), 'Longer samples, stored by an older version, that are not checked yet.'),
      }),
    ),
    'Sums over all samples that match the filter, on every page. Omitted: no cut was given.',
  ),
  hidden: withDescription(
    z.exactOptional(z.int()),
    'Number of samples of value estimates that match the rest of the query and are not listed. Omitted: they are listed.',
  ),
  total: withDescription(z.int(), 'Number of rows on all pages.'),
  start: withDescription(z.int(), 'Number of rows before this page.'),
  previous: withDescription(
    z.exactOptional(z.string()),
    'Cursor of the previous page. Omitted: this is the first page.',
  ),
  next: withDescription(z.exactOptional(z.string()), 'Cursor of the next page. Omitted: this is the last page.'),
})
/** One page of the library. */
export type TrajectoryPage = Plain<z.infer<typeof pageSchema>>
/** Losses to the trainer's cut over many samples. */
export type CutCount = NonNullable<TrajectoryPage['cut']>

/** The answer of GET /api/trajectories/{key}/neighbours. */
export const neighboursSchema = z.object({
  ahead: withDescription(z.int(), 'Number of rows before this trajectory.'),
  total: withDescription(z.int(), 'Number of rows in the list.'),
  isListed: withDescription(
    z.boolean(),
    'Whether the trajectory is in the list. A change may have removed it from a filtered list.',
  ),
  previous: withDescription(z.exactOptional(z.string()), 'Key of the previous row. Omitted: this is the first row.'),
  next: withDescription(z.exactOptional(z.string()), 'Key of the next row. Omitted: this is the last row.'),
})
/** Position of a trajectory in a list, and the rows next to it. */
export type Neighbours = Plain<z.infer<typeof neighboursSchema>>

/** The answer of GET /api/library. */
export const filterChoicesSchema = z.object({
  total: z.int(),
  outcomes: z.array(z.object({ kind: summarySchema.shape.outcomeKind, outcome: z.string(), count: z.int() })),
  sources: z.array(
    z.object({ kind: summarySchema.shape.source, format: summarySchema.shape.importFormat, count: z.int() }),
  ),
  tags: withDescription(
    z.array(z.object({ tag: z.string(), count: z.int() })),
    'The 200 most used tags, most used first.',
  ),
})
/** Values by which a list can be filtered, with their counts. */
export type FilterChoices = Plain<z.infer<typeof filterChoicesSchema>>

/** Columns by which a list can be sorted. */
export const SORT_COLUMNS = ['added', 'title', 'tokens', 'trained', 'meanLogprob', 'reward'] as const
type SortColumn = (typeof SORT_COLUMNS)[number]
/** Directions of sorting. */
export const SORT_ORDERS = ['asc', 'desc'] as const

/** Sort order of a list. Unknown values are last in both directions. Of equal values the newest is first. */
export interface ListSort {
  readonly by: SortColumn
  readonly order: (typeof SORT_ORDERS)[number]
}

/** Returns the first direction when a column is chosen: ascending for titles, otherwise descending. */
export const firstOrder = (by: SortColumn): ListSort['order'] => (by === 'title' ? 'asc' : 'desc')
