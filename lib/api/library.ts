/** Defines the rows and sort orders of the library. The store, the HTTP API and the page use the same ones. */
import * as z from 'zod'
import { healthGistSchema } from '#lib/trajectory/health/health.ts'
import type { Plain } from '#lib/util/plain.ts'

/** Schema of one row of the library. */
export const summarySchema = z.object({
  key: z.string().describe('The key of the trajectory: its id, with a suffix if another trajectory has the same id.'),
  id: z.string(),
  createdAt: z.string(),
  addedAt: z.string().describe('When it was stored here, ISO 8601.'),
  title: z.string().nullable().describe('null: no title.'),
  question: z
    .string()
    .describe('The beginning of the first question, or the name of the imported file if there is no question.'),
  tags: z.array(z.string()),
  note: z.string().nullable(),
  reward: z.number().nullable(),
  model: z.string().nullable(),
  outcomeKind: z.enum(['running', 'ended', 'failed']),
  outcome: z.string().describe('`running`, a reason such as `end_turn`, or the code of a failure.'),
  source: z
    .enum(['rollout', 'import', 'fork', 'retokenized', 'recorded'])
    .describe('import: opened from a file or pushed, files of Rollscope included.'),
  importFormat: z.string().nullable().describe('Format of the imported file. null: not imported.'),
  segments: z.int(),
  turns: z.int().describe('Responses of the model.'),
  tokens: z.int(),
  trained: z.int(),
  meanLogprob: z.number().nullable().describe('Mean over trained tokens with a known logprob, in nats.'),
  toolCalls: z.int(),
  failedCalls: z.int().describe('Tool calls that failed or are malformed.'),
  group: z
    .object({ id: z.string(), index: z.int() })
    .nullable()
    .describe('The group of the sample, and its index in the group. null: unknown, or no group.'),
  rewardWhy: z
    .string()
    .nullable()
    .describe('Why the rule of the group gave this reward, or no reward. null: no rule scored it.'),
  health: healthGistSchema
    .nullable()
    .describe('null: not checked since the last change. Checks run in the background.'),
})
/** Row of a stored trajectory in the library. */
export type TrajectorySummary = Plain<z.infer<typeof summarySchema>>

const groupSchema = z.object({
  id: z.string(),
  keys: z
    .array(z.string())
    .describe('Keys of all samples in the order of their index, including those that the filter excludes.'),
  matching: z.int().describe('Number of samples that match the filter.'),
  running: z.int().describe('Number of samples that are running.'),
  rewards: z
    .object({ known: z.int(), mean: z.number(), min: z.number(), max: z.number() })
    .nullable()
    .describe('Rewards of the samples that have one. null: no sample has one.'),
  isFlat: z
    .boolean()
    .describe(
      'Several samples, all with the same reward: all advantages in GRPO are 0, and the group gives no gradient.',
    ),
})
/** A group of samples as one row of a list. */
export type GroupSummary = Plain<z.infer<typeof groupSchema>>

/** The answer of GET /api/trajectories. */
export const pageSchema = z.object({
  trajectories: z.array(summarySchema),
  groups: z
    .array(groupSchema)
    .exactOptional()
    .describe(
      'The groups on this page, if groups are folded: each row represents its whole group. Omitted: groups are not folded.',
    ),
  cut: z
    .object({
      samples: z.int(),
      longer: z.int().describe('Samples with more tokens than the trainer accepts.'),
      losing: z.int().describe('Samples that lose trained tokens.'),
      lost: z.int().describe('Trained tokens that are lost.'),
      trained: z.int().describe('Trained tokens of all samples.'),
      unknown: z.int().describe('Longer samples, stored by an older version, that are not checked yet.'),
    })
    .exactOptional()
    .describe('Sums over all samples that match the filter, on every page. Omitted: no cut was given.'),
  total: z.int().describe('Number of rows on all pages.'),
  start: z.int().describe('Number of rows before this page.'),
  previous: z.string().exactOptional().describe('Cursor of the previous page. Omitted: this is the first page.'),
  next: z.string().exactOptional().describe('Cursor of the next page. Omitted: this is the last page.'),
})
/** One page of the library. */
export type TrajectoryPage = Plain<z.infer<typeof pageSchema>>
/** Losses to the trainer's cut over many samples. */
export type CutCount = NonNullable<TrajectoryPage['cut']>

/** The answer of GET /api/trajectories/{key}/neighbours. */
export const neighboursSchema = z.object({
  ahead: z.int().describe('Number of rows before this trajectory.'),
  total: z.int().describe('Number of rows in the list.'),
  isListed: z
    .boolean()
    .describe('Whether the trajectory is in the list. A change may have removed it from a filtered list.'),
  previous: z.string().exactOptional().describe('Key of the previous row. Omitted: this is the first row.'),
  next: z.string().exactOptional().describe('Key of the next row. Omitted: this is the last row.'),
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
  tags: z.array(z.object({ tag: z.string(), count: z.int() })).describe('The 200 most used tags, most used first.'),
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
