/** Converts the parallel arrays of trainers to the columns of segments. */
import * as z from 'zod/mini'
import type { Problem, Segment } from '#lib/trajectory/format/trajectory.ts'
import { LIMITS } from '#lib/util/limits.ts'
import type { Violation } from '#lib/util/schema-violation.ts'

/**
 * Returns a schema of a list that keeps a valid list itself: z.array copies it, and allocates an object for each entry.
 * Only the first wrong entry is reported.
 */
const columnOf = <T>(entry: z.ZodMiniType<T>, wrongIndex: (list: readonly unknown[]) => number) =>
  z.custom<T[]>().check((context) => {
    const { value } = context
    const wrong = Array.isArray(value) ? wrongIndex(value) : 0
    if (wrong < 0) return
    const parsed = z.array(entry).safeParse(Array.isArray(value) ? value.slice(0, wrong + 1) : value)
    for (const issue of (parsed.error as z.core.$ZodError).issues)
      context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue)
  })

/** Schema of a token id. */
export const idSchema = z.int().check(z.minimum(0), z.maximum(LIMITS.tokenId))

/** Schema of routed experts by token, layer and choice. */
export const nestedExpertsSchema = z.array(z.array(z.array(z.int())))

/** Schema of token ids. */
export const idsSchema = columnOf(idSchema, (list) => {
  // A loop of its own, because files have more ids than anything else: a function for each id takes six times as long.
  for (let index = 0; index < list.length; index++) {
    const id = list[index]
    if (!Number.isInteger(id) || (id as number) < 0 || (id as number) > LIMITS.tokenId) return index
  }
  return -1
})

/** Returns the function that finds the first other entry of a list; -1: there is none. */
const wrongIndexOf = (isEntry: (value: unknown) => boolean) => (list: readonly unknown[]) => {
  for (let index = 0; index < list.length; index++) if (!isEntry(list[index])) return index
  return -1
}

const isMaskEntry = (value: unknown): boolean => value === 0 || value === 1 || typeof value === 'boolean'

/** Schema of an entry of a loss mask: 0 and 1, or Python's booleans. */
export const maskEntrySchema = z.custom<0 | 1 | boolean>(isMaskEntry, { error: '0, 1, true or false' })

/** Schema of a loss mask. */
export const maskSchema = columnOf(maskEntrySchema, wrongIndexOf(isMaskEntry))

/** The label of a token that is not trained: the cross entropy of PyTorch ignores it. */
export const UNTRAINED_LABEL = -100

/** Returns whether a value is a logprob as files have it. */
export const isLogprob = (value: unknown): value is LogprobAsWritten =>
  value === null || typeof value === 'number' || (typeof value === 'string' && /^(NaN|-?Infinity)$/.test(value))

/** Schema of a logprob. Accepts NaN and the infinities as numbers, or as the texts that pydantic writes for them. */
export const logprobSchema = z.custom<LogprobAsWritten>(isLogprob, { error: 'a number or null' })
/** A logprob or another number as a file has it. */
export type LogprobAsWritten = number | null | string

/** Schema of logprobs. */
export const logprobsSchema = columnOf(logprobSchema, wrongIndexOf(isLogprob))

const isNumberOrBit = (value: unknown): boolean => typeof value === 'boolean' || isLogprob(value)

/** Schema of further numbers of tokens: as logprobs, or Python's booleans for masks. */
export const numbersSchema = columnOf(
  z.custom<LogprobAsWritten | boolean>(isNumberOrBit, { error: 'a number, true, false or null' }),
  wrongIndexOf(isNumberOrBit),
)

/** Returns a loss mask as 0 and 1. */
export const maskBits = (mask: readonly (0 | 1 | boolean)[]): readonly (0 | 1)[] =>
  mask.some((bit) => typeof bit === 'boolean') ? mask.map((bit) => (bit ? 1 : 0)) : (mask as readonly (0 | 1)[])

/** Range of a segment among all tokens; half-open. */
export interface ColumnRange {
  readonly isOutput: boolean
  readonly start: number
  readonly end: number
}

/** Returns consecutive ranges from their kinds and lengths. */
export function rangesOfLengths(
  info: readonly (readonly [isOutput: boolean, length: number])[],
  from = 0,
): ColumnRange[] {
  let end = from
  return info.map(([isOutput, length]) => {
    const start = end
    end += length
    return { isOutput, start, end }
  })
}

/** Returns one range for each run of equal bits. */
export function maskRuns(mask: readonly (0 | 1)[], from = 0): ColumnRange[] {
  const runs: ColumnRange[] = []
  for (let start = from, end = from; start < mask.length; start = end) {
    while (end < mask.length && mask[end] === mask[start]) end++
    runs.push({ isOutput: mask[start] === 1, start, end })
  }
  return runs
}

/** Whole columns of a trajectory. */
export interface Columns {
  /** One id for each token of the trajectory. */
  readonly ids: readonly number[]
  readonly mask: readonly (0 | 1)[] | undefined
  readonly logprobs: readonly LogprobAsWritten[] | null | undefined
  /**
   * Number of tokens before the first entry of `mask` and `logprobs`: the first prompt, which is not trained and has no
   * logprobs. Omitted: 0.
   */
  readonly promptLength?: number
  /** True if the logprob 0 of a token that is not trained means that its logprob is unknown. */
  readonly hasFillers?: boolean
  /** Further numbers of the tokens of `mask`, by the names of their columns. Omitted: none. */
  readonly numbers?: NumberColumns
}

/** Numbers of tokens by the name of their column in a trajectory. */
export type NumberColumns = Readonly<Record<string, readonly LogprobAsWritten[]>>

/** Returns whether the logprob of an entry is such a filler. */
export const isFiller = ({ mask, logprobs }: Pick<Columns, 'mask' | 'logprobs'>, index: number): boolean =>
  logprobs?.[index] === 0 && mask?.[index] === 0

/**
 * Returns the range as a segment; values that JSON cannot represent or that contradict the segment's kind become
 * problems.
 */
export function segmentOf(
  { isOutput, start, end }: ColumnRange,
  { ids, mask, logprobs, promptLength = 0, hasFillers = false, numbers = {} }: Columns,
): Segment {
  const problems: Problem[] = []
  const entries = <T>(column: readonly T[] | null | undefined) =>
    column && start >= promptLength ? part(column, start - promptLength, end - promptLength) : undefined
  const bits = entries(mask)
  const columns = {
    ids: part(ids, start, end),
    ...logprobColumn({ mask: hasFillers ? bits : undefined, logprobs: entries(logprobs) }, problems),
    ...maskColumn(bits, isOutput, problems),
    ...numberColumns(
      Object.entries(numbers).map(([name, column]) => [name, entries(column)]),
      problems,
    ),
    ...(problems.length > 0 && { problems }),
  }
  return isOutput
    ? { kind: 'response', ...columns, thinks: [], toolCalls: [] }
    : { kind: 'prompt', ...columns, messages: [] }
}

/** Returns a range of a column; the whole column is not copied. */
const part = <T>(column: readonly T[], start: number, end: number): readonly T[] =>
  start === 0 && end >= column.length ? column : column.slice(start, end)

/** Values up to this one mean minus infinity: SGLang writes float32's minimum where a grammar forbids a token. */
const MINUS_INFINITY = -3e38

function logprobColumn(columns: Pick<Columns, 'mask' | 'logprobs'>, problems: Problem[]): Pick<Segment, 'logprobs'> {
  const { logprobs } = columns
  if (!logprobs?.some((logprob, index) => logprob !== null && !isFiller(columns, index))) return {}
  return {
    logprobs: logprobs.map((written, index) => {
      const logprob = isFiller(columns, index) ? null : readNumber(written, 'logprobs', index, problems)
      if (logprob === null || logprob > MINUS_INFINITY) return logprob
      problems.push(unrepresentable('logprobs', index, written))
      return null
    }),
  }
}

/** Returns the columns with a known number; a segment without one omits the column. */
function numberColumns(
  columns: readonly (readonly [name: string, entries: readonly LogprobAsWritten[] | undefined])[],
  problems: Problem[],
): Pick<Segment, 'columns'> {
  const known = columns.flatMap(([name, entries]) =>
    entries?.some((entry) => entry !== null)
      ? [[name, entries.map((written, index) => readNumber(written, name, index, problems))] as const]
      : [],
  )
  return known.length > 0 ? { columns: Object.fromEntries(known) } : {}
}

/** Returns null for a number that JSON cannot represent, with a problem. */
function readNumber(written: LogprobAsWritten, column: string, index: number, problems: Problem[]): number | null {
  const number = written === null ? null : Number(written)
  if (number === null || Number.isFinite(number)) return number === 0 ? 0 : number
  problems.push(unrepresentable(column, index, written))
  return null
}

const unrepresentable = (column: string, index: number, written: LogprobAsWritten): Problem => ({
  kind: 'number',
  message: 'The file contains a number that JSON cannot represent.',
  column,
  index,
  raw: String(written),
})

function maskColumn(
  mask: readonly (0 | 1)[] | undefined,
  isOutput: boolean,
  problems: Problem[],
): { readonly mask?: readonly (0 | 1)[] } {
  const expected = isOutput ? 1 : 0
  const differing = mask?.reduce<number>((sum, bit) => sum + (bit === expected ? 0 : 1), 0) ?? 0
  if (!mask || differing === 0) return {}
  problems.push({
    kind: 'mask',
    message: `The loss mask of ${differing} of ${mask.length} tokens differs from the mask of a ${isOutput ? 'response' : 'prompt'}; it is kept.`,
    column: 'mask',
  })
  return { mask }
}

/** Checks the number of segments before they are created. */
export const tooManySegments = (parts: readonly ColumnRange[], path: string): Violation | undefined =>
  parts.length > LIMITS.segments
    ? { path, expected: `at most ${LIMITS.segments} segments`, found: String(parts.length) }
    : undefined

/** Returns whether any logprob of the segments is known. */
export const hasLogprobs = (segments: readonly Segment[]): boolean =>
  segments.some(({ logprobs }) => logprobs?.some((logprob) => logprob !== null) === true)

/** Returns a violation for the first column, by its path, with a wrong length; `of` names the owner of the tokens. */
export function lengthViolation(
  columns: Readonly<Record<string, readonly unknown[] | null | undefined>>,
  tokens: number,
  of = '',
): Violation | undefined {
  for (const [path, column] of Object.entries(columns))
    if (column && column.length !== tokens)
      return {
        path,
        expected: `${tokens} entries (one for each token${of})`,
        found: `${column.length} entries`,
      }
  return undefined
}

/** A column that a file contains several times under these paths; undefined and null mean absent. */
export type Copies = readonly (readonly [path: string, column: readonly unknown[] | null | undefined])[]

/**
 * Returns the first entry in which a copy differs from the first copy, because then neither can be trusted. Copies of
 * different lengths differ.
 */
export function contradiction(copies: Copies): Violation | undefined {
  const there = copies.flatMap(([path, column]) => (column ? [{ path, column }] : []))
  const [first, ...others] = there
  for (const { path, column } of others)
    for (let index = 0; first && index < Math.max(column.length, first.column.length); index++) {
      const entry = column[index]
      // Nearly all entries are the same values.
      if (entry !== undefined && entry === first.column[index]) continue
      if (Object.is(entryAt(column, index), entryAt(first.column, index))) continue
      return {
        path: `${path}[${index}]`,
        expected: `${shownEntry(first.column, index)}, as in ${first.path}`,
        found: shownEntry(column, index),
      }
    }
  return undefined
}

/** Returns a comparable entry; undefined after the end of the column. */
const entryAt = (column: readonly unknown[], index: number): unknown =>
  index < column.length ? comparable(column[index]) : undefined

/** Masks are numbers or booleans, logprobs are numbers or texts for those that JSON lacks; -0 equals 0. */
const comparable = (entry: unknown): unknown => (entry === null ? null : Number(entry) === 0 ? 0 : Number(entry))

const shownEntry = (column: readonly unknown[], index: number): string =>
  index < column.length ? String(entryAt(column, index)) : 'nothing'

const ownSchema = z.object({
  rollscope: z.object({ segment_info: z.array(z.tuple([z.boolean(), z.int().check(z.minimum(0))])) }),
})

/** Returns the segments that Rollscope wrote into an object, if they still match its tokens. */
export function ownSegments(holder: unknown, tokens: number): readonly (readonly [boolean, number])[] | undefined {
  const parsed = ownSchema.safeParse(holder)
  if (!parsed.success) return undefined
  const info = parsed.data.rollscope.segment_info
  return info.reduce((sum, [, length]) => sum + length, 0) === tokens ? info : undefined
}

/**
 * Returns the note for segments from the loss mask: a Rollscope file whose tokens were changed has segments that no
 * longer match.
 */
export const segmentsLacked = (holder: unknown): string =>
  ownSchema.safeParse(holder).success
    ? 'segments: rollscope.segment_info does not match the tokens; the loss mask was used instead'
    : 'segments: taken from the loss mask'
