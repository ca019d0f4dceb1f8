/** Defines the rows and sort orders of the library. The store, the HTTP API and the page use the same ones. */
import * as z from 'zod'
import { healthGistSchema } from '#lib/trajectory/health/health.ts'
import type { Plain } from '#lib/util/plain.ts'

/** Schema of one row of the library. */
export const summarySchema = z.object({
  key: z.string().describe('Under which it is found: its id, with a suffix where that was taken.'),
  id: z.string(),
  createdAt: z.string(),
  addedAt: z.string().describe('When it was stored here, ISO 8601.'),
  title: z.string().nullable().describe('null: none given.'),
  question: z
    .string()
    .describe('The beginning of the first question; where there is none the name of the imported file.'),
  tags: z.array(z.string()),
  note: z.string().nullable(),
  reward: z.number().nullable(),
  model: z.string().nullable(),
  outcomeKind: z.enum(['running', 'ended', 'failed']),
  outcome: z.string().describe('`running`, a reason such as `end_turn`, or the code of a failure.'),
  source: z
    .enum(['rollout', 'import', 'fork', 'retokenized', 'recorded'])
    .describe('import: opened from a file or pushed, files of Rollscope included.'),
  importFormat: z.string().nullable().describe('Of an imported one: the file’s format.'),
  segments: z.int(),
  turns: z.int().describe('Responses of the model.'),
  tokens: z.int(),
  trained: z.int(),
  meanLogprob: z.number().nullable().describe('Over trained tokens whose logprob is known, in nats.'),
  toolCalls: z.int(),
  failedCalls: z.int().describe('Of those: failed and malformed ones.'),
  group: z
    .object({ id: z.string(), index: z.int() })
    .nullable()
    .describe('The group of samples that it belongs to, and its place in it. null: none that is known here.'),
  rewardWhy: z.string().nullable().describe('Why the rule of its group gave this reward, or none. null: none has.'),
  health: healthGistSchema.nullable().describe('null: not checked as it is now; that is done in the background.'),
})
/** Row of a stored trajectory in the library. */
export type TrajectorySummary = Plain<z.infer<typeof summarySchema>>

const groupSchema = z.object({
  id: z.string(),
  keys: z.array(z.string()).describe('Of all its samples, by their index; those that the list leaves out too.'),
  matching: z.int().describe('Samples that the list lets through.'),
  running: z.int().describe('Samples that are being written.'),
  rewards: z
    .object({ known: z.int(), mean: z.number(), min: z.number(), max: z.number() })
    .nullable()
    .describe('Of samples whose reward is known. null: of none it is.'),
  isFlat: z
    .boolean()
    .describe(
      'Every sample of several has the same reward: all advantages in GRPO are 0, and no gradient comes of it.',
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
      'Where groups are folded: those of the trajectories of this page, each of which stands for its whole group. Omitted: they are not.',
    ),
  cut: z
    .object({
      samples: z.int(),
      longer: z.int().describe('Samples with more tokens than the trainer takes.'),
      losing: z.int().describe('Samples of which trained tokens are lost.'),
      lost: z.int().describe('Trained tokens that are lost.'),
      trained: z.int().describe('Trained tokens of all samples.'),
      unknown: z.int().describe('Longer samples that were stored by an older version and are not checked yet.'),
    })
    .exactOptional()
    .describe('Over all samples that the list lets through, on every page. Omitted: no cut was given.'),
  total: z.int().describe('Rows of all pages.'),
  start: z.int().describe('Rows ahead of this page.'),
  previous: z.string().exactOptional().describe('The cursor of the page before. Omitted: this is the first.'),
  next: z.string().exactOptional().describe('The cursor of the page after. Omitted: this is the last.'),
})
/** One page of the library. */
export type TrajectoryPage = Plain<z.infer<typeof pageSchema>>
/** Losses to the trainer's cut over many samples. */
export type CutCount = NonNullable<TrajectoryPage['cut']>

/** The answer of GET /api/trajectories/{key}/neighbours. */
export const neighboursSchema = z.object({
  ahead: z.int().describe('Rows of the list before this trajectory.'),
  total: z.int().describe('Rows of the list.'),
  isListed: z.boolean().describe('Whether the trajectory is one of them: it may have been found before it changed.'),
  previous: z.string().exactOptional().describe('Key of the row before it. Omitted: it is the first.'),
  next: z.string().exactOptional().describe('Key of the row after it. Omitted: it is the last.'),
})
/** Position of a trajectory in a list, and the rows next to it. */
export type Neighbours = Plain<z.infer<typeof neighboursSchema>>

/** The answer of GET /api/library. */
export const choicesSchema = z.object({
  total: z.int(),
  outcomes: z.array(z.object({ kind: summarySchema.shape.outcomeKind, outcome: z.string(), count: z.int() })),
  sources: z.array(
    z.object({ kind: summarySchema.shape.source, format: summarySchema.shape.importFormat, count: z.int() }),
  ),
  tags: z.array(z.object({ tag: z.string(), count: z.int() })).describe('The 200 most used, most used first.'),
})
/** Values by which a list can be filtered, with their counts. */
export type FilterChoices = Plain<z.infer<typeof choicesSchema>>

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
