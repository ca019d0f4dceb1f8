/**
 * Validates a value by the trajectory schema, several times as fast. Columns are nine tenths of a file, and a schema
 * takes many steps for each entry. Columns that are obviously valid are removed before the schema runs; the schema
 * reports every error.
 */
import { isObject } from '#lib/json/json-object.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { isTokenId } from './token-id.ts'
import { type Trajectory, trajectorySchema } from './trajectory.ts'

type Parsed = ReturnType<typeof trajectorySchema.safeParse>

/** Does the same as `trajectorySchema.safeParse`, but returns the columns of `value` itself, not copies. */
export function parseTrajectory(value: unknown): Parsed {
  const parsed = trajectorySchema.safeParse(withoutAllColumns(value))
  if (!parsed.success) return parsed
  // The schema has just checked the shape.
  const { segments } = value as unknown as Trajectory
  return {
    ...parsed,
    data: {
      ...parsed.data,
      segments: parsed.data.segments.map((segment, index) => withColumns(segment, elementAt(segments, index))),
    },
  }
}

/** Returns a trajectory whose obviously valid columns are empty. */
export const withoutAllColumns = (value: unknown): unknown =>
  isObject(value) && Array.isArray(value.segments) ? { ...value, segments: value.segments.map(withoutColumns) } : value

type Segment = Trajectory['segments'][number]
type ParsedSegment = NonNullable<Parsed['data']>['segments'][number]

/** Returns a segment whose obviously valid columns are empty. */
export function withoutColumns(segment: unknown): unknown {
  if (!isObject(segment)) return segment
  const { topLogprobs, columns } = segment
  return {
    ...segment,
    ...emptyFields(segment, { ids: isTokenId, logprobs: isKnownOrNot, mask: isMask }),
    ...(isObject(topLogprobs) && {
      topLogprobs: { ...topLogprobs, ...emptyFields(topLogprobs, { ids: isAlternative, logprobs: isKnownOrNot }) },
    }),
    ...(isObject(columns) && {
      columns: Object.fromEntries(
        Object.entries(columns).map(([name, column]) => [name, isColumn(column, isKnownOrNot) ? [] : column]),
      ),
    }),
  }
}

type IsEntry = (entry: unknown) => boolean

/** Returns which of these columns are obviously valid, emptied. */
const emptyFields = (holder: object, checks: Readonly<Record<string, IsEntry>>): Readonly<Record<string, []>> =>
  Object.fromEntries(
    Object.entries(checks).flatMap(([name, isEntry]): [string, []][] =>
      isColumn((holder as Readonly<Record<string, unknown>>)[name], isEntry) ? [[name, []]] : [],
    ),
  )

const isColumn = (column: unknown, isEntry: IsEntry): boolean => Array.isArray(column) && column.every(isEntry)

const isAlternative: IsEntry = (entry) => entry === -1 || isTokenId(entry)
const isKnownOrNot: IsEntry = (entry) => entry === null || Number.isFinite(entry)
const isMask: IsEntry = (entry) => entry === 0 || entry === 1

/** Puts the columns of `whole` back where the schema kept them. */
function withColumns(segment: ParsedSegment, whole: Segment): ParsedSegment {
  const { logprobs, mask, topLogprobs, columns } = segment
  return {
    ...segment,
    ids: whole.ids,
    ...(logprobs && { logprobs: whole.logprobs }),
    ...(mask && { mask: whole.mask }),
    ...(topLogprobs && {
      topLogprobs: { ...topLogprobs, ids: whole.topLogprobs?.ids, logprobs: whole.topLogprobs?.logprobs },
    }),
    ...(columns && {
      columns: Object.fromEntries(Object.keys(columns).map((name) => [name, whole.columns?.[name]])),
    }),
  } as ParsedSegment
}
