/** Columns of numbers that a program adds to a stored trajectory, such as a trainer’s logprobs: by index, with the ids checked. */

import * as z from 'zod'
import { type ColumnMeaning, type Segment, schemas, type Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { OWN_LOGPROBS } from '#lib/trajectory/tokens/column-roles.ts'
import { idColumn, segmentStarts } from '#lib/trajectory/tokens/tokens.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { Plain } from '#lib/util/plain.ts'
import { countText } from '#lib/util/text/count-with-noun.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { endedTrajectory } from './trajectories.ts'

const value = z.number().nullable()
const index = z.int().min(0)

/** Schema of the change of one column: values from an index on, or pairs of index and value, or only the meaning. */
const columnChangeSchema = z
  .strictObject({
    values: z.array(value).exactOptional().describe('One value for each token from `start` on; null: unknown.'),
    start: index.exactOptional().describe('Index of the token of the first value, from 0. Default 0.'),
    pairs: z
      .array(z.tuple([index, value]))
      .exactOptional()
      .describe('Instead of `values`: the index of a token and its value, in any order.'),
    ids: z
      .array(index)
      .exactOptional()
      .describe('The token ids that the program has at these places, which are compared with those of the trajectory.'),
    meaning: z.exactOptional(schemas.columnMeaning),
  })
  .refine(({ values, pairs }) => values === undefined || pairs === undefined, { message: 'either "values" or "pairs"' })
  .refine(({ values, pairs, meaning }) => (values ?? pairs ?? meaning) !== undefined, {
    message: '"values", "pairs" or "meaning"',
  })

/** Schema of the answer. */
export const addedColumnsSchema = z.object({
  tokens: z.int().describe('Tokens of the trajectory.'),
  columns: z.array(
    z.object({ name: z.string(), known: z.int().describe('Tokens whose value is known, after the change.') }),
  ),
})
/** Columns after a change. */
type AddedColumns = Plain<z.infer<typeof addedColumnsSchema>>

/** Schema of the body. A column that is null is removed. */
export const columnsChangeSchema = z.strictObject({
  columns: z
    .record(z.string().min(1).max(200), columnChangeSchema.nullable())
    .refine((columns) => Object.keys(columns).length > 0, { message: 'at least one column' })
    .describe('The columns by their names. null removes a column.'),
})
type ColumnChange = z.infer<typeof columnChangeSchema>

/** Stores the columns and returns what they contain now. Throws HttpProblem at the first length or id that does not fit; then nothing is stored. */
export function changeColumns(
  key: string,
  { columns }: z.infer<typeof columnsChangeSchema>,
  all: Services,
): AddedColumns {
  const found = endedTrajectory(key, all, 'Send the columns after the run has ended.')
  const changed = Object.entries(columns).reduce((trajectory, [name, change]) => {
    if (change === null) return withoutColumn(trajectory, name)
    return withChange(trajectory, name, change)
  }, found)
  all.store.update(key, changed, 0)
  return {
    tokens: segmentStarts(changed).at(-1) ?? 0,
    columns: Object.keys(columns).map((name) => ({ name, known: knownValues(changed, name) })),
  }
}

const knownValues = ({ segments }: Trajectory, name: string): number =>
  segments
    .flatMap(({ columns = {} }) => (Object.hasOwn(columns, name) ? columns[name] : []))
    .filter((value) => value !== null).length

function withoutColumn(trajectory: Trajectory, name: string): Trajectory {
  const { [name]: _, ...meanings } = trajectory.columnMeanings ?? {}
  const { columnMeanings: __, ...others } = trajectory
  return {
    ...others,
    ...(Object.keys(meanings).length > 0 && { columnMeanings: meanings }),
    segments: trajectory.segments.map((segment): Segment => {
      if (!segment.columns || !Object.hasOwn(segment.columns, name)) return segment
      const { columns, ...rest } = segment
      const { [name]: ___, ...remaining } = columns
      return Object.keys(remaining).length > 0 ? { ...rest, columns: remaining } : rest
    }),
  }
}

function withChange(trajectory: Trajectory, name: string, change: ColumnChange): Trajectory {
  const values = indexedValues(trajectory, name, change)
  const starts = segmentStarts(trajectory)
  return {
    ...trajectory,
    ...withMeaning(trajectory, name, change.meaning),
    segments: trajectory.segments.map((segment, index): Segment => {
      const start = elementAt(starts, index)
      const length = segment.ids.length
      const before = segment.columns?.[name]
      let isChanged = false
      const column = Array.from({ length }, (_, offset) => {
        const value = values.get(start + offset)
        if (value === undefined) return before?.[offset] ?? null
        isChanged = true
        return value
      })
      return isChanged ? { ...segment, columns: { ...segment.columns, [name]: column } } : segment
    }),
  }
}

const withMeaning = (
  { columnMeanings }: Trajectory,
  name: string,
  meaning: ColumnMeaning | undefined,
): Pick<Trajectory, 'columnMeanings'> =>
  meaning === undefined ? {} : { columnMeanings: { ...columnMeanings, [name]: meaning } }

/** Returns the values by token. Throws HttpProblem 422 at the first one that does not belong to a token of the trajectory. */
function indexedValues(trajectory: Trajectory, name: string, change: ColumnChange): ReadonlyMap<number, number | null> {
  const { ids, pairs, values } = change
  if (name === OWN_LOGPROBS && (values ?? pairs) !== undefined)
    throw wrong(name, '"logprobs" are those of the sampler and cannot be replaced', {
      hint: 'Choose another name, such as trainerLogprobs. The meaning of "logprobs" can be changed without values.',
    })
  const indices = pairs?.map(([index]) => index) ?? values?.map((_, offset) => (change.start ?? 0) + offset) ?? []
  const own = idColumn(trajectory)
  const outside = indices.findIndex((index) => index >= own.length)
  if (outside >= 0)
    throw wrong(
      name,
      `the trajectory has ${countText(own.length)} tokens, and entry ${outside} is for token ${indices[outside]}`,
      { hint: `Send one value for each token, or "start" and fewer values. "start" is counted from 0.` },
    )
  if (ids && ids.length !== indices.length)
    throw wrong(name, `there are ${indices.length} values and ${ids.length} ids`, {
      hint: 'Send one id for each value.',
    })
  const differing = ids?.findIndex((id, entry) => id !== own[elementAt(indices, entry)]) ?? -1
  if (differing >= 0)
    throw wrong(
      name,
      `token ${indices[differing]} has the id ${own[elementAt(indices, differing)]}, not ${ids?.[differing]}`,
      {
        code: 'OTHER_IDS',
        hint: 'The trainer has other tokens than the trajectory from there: check its retokenization, padding and cut.',
      },
    )
  const byToken = new Map(
    pairs ?? indices.map((index, entry): readonly [number, number | null] => [index, values?.[entry] ?? null]),
  )
  if (byToken.size < indices.length) throw wrong(name, 'a token occurs in several "pairs"')
  return byToken
}

const wrong = (name: string, detail: string, more: { readonly code?: string; readonly hint?: string } = {}) =>
  new HttpProblem({
    status: 422,
    code: more.code ?? 'WRONG_COLUMN',
    detail: `the column ${JSON.stringify(name)} does not fit: ${detail}`,
    hint: more.hint,
    field: `columns.${name}`,
  })
