/** Converts the parallel arrays of trainers to the columns of segments. */
import * as z from 'zod'
import type { Problem, Segment } from '#lib/trajectory/format/trajectory.ts'
import { logprobsOf } from '#lib/trajectory/tokens/tokens.ts'
import { LIMITS } from '#lib/util/limits.ts'
import type { Violation } from '#lib/util/schema-violation.ts'

/** Schema of token ids. */
export const idsSchema = z.array(z.int().min(0))

/** Schema of a loss mask: 0 and 1, or Python's booleans. */
export const maskSchema = z.array(
  z.custom<0 | 1 | boolean>((value) => value === 0 || value === 1 || typeof value === 'boolean', {
    error: '0, 1, true or false',
  }),
)

/** Schema of logprobs. Accepts NaN and the infinities as numbers, or as the texts that pydantic writes for them. */
export const logprobsSchema = z.array(
  z.custom<LogprobAsWritten>(
    (value) =>
      value === null || typeof value === 'number' || (typeof value === 'string' && /^(NaN|-?Infinity)$/.test(value)),
    { error: 'a number or null' },
  ),
)
type LogprobAsWritten = number | null | string

/** Returns a loss mask as 0 and 1. */
export const maskBits = (mask: readonly (0 | 1 | boolean)[]): (0 | 1)[] => mask.map((bit) => (bit ? 1 : 0))

/** Range of a segment among all tokens; half-open. */
export interface ColumnRange {
  readonly isOutput: boolean
  readonly start: number
  readonly end: number
}

/** Returns consecutive ranges from their kinds and lengths. */
export function stretches(info: readonly (readonly [isOutput: boolean, length: number])[], from = 0): ColumnRange[] {
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

/** Whole columns with one entry for each token of the trajectory. */
export interface Columns {
  readonly ids: readonly number[]
  readonly mask: readonly (0 | 1)[] | undefined
  readonly logprobs: readonly LogprobAsWritten[] | null | undefined
}

/**
 * Returns the range as a segment; values that JSON cannot represent or that contradict the segment's kind become
 * problems.
 */
export function segmentOf({ isOutput, start, end }: ColumnRange, { ids, mask, logprobs }: Columns): Segment {
  const problems: Problem[] = []
  const columns = {
    ids: ids.slice(start, end),
    ...logprobColumn(logprobs?.slice(start, end), problems),
    ...maskColumn(mask?.slice(start, end), isOutput, problems),
    ...(problems.length > 0 && { problems }),
  }
  return isOutput
    ? { kind: 'response', ...columns, thinks: [], toolCalls: [] }
    : { kind: 'prompt', ...columns, messages: [] }
}

/** Values up to this one mean minus infinity: SGLang writes float32's minimum where a grammar forbids a token. */
const MINUS_INFINITY = -3e38

function logprobColumn(
  logprobs: readonly LogprobAsWritten[] | undefined,
  problems: Problem[],
): Pick<Segment, 'logprobs'> {
  if (!logprobs?.some((logprob) => logprob !== null)) return {}
  return {
    logprobs: logprobs.map((written, index) => {
      const logprob = written === null ? null : Number(written)
      if (logprob === null || (logprob > MINUS_INFINITY && logprob < Infinity)) return logprob === 0 ? 0 : logprob
      problems.push({
        kind: 'number',
        message: 'The file contains a number that JSON cannot represent.',
        column: 'logprobs',
        index,
        raw: String(written),
      })
      return null
    }),
  }
}

function maskColumn(
  mask: readonly (0 | 1)[] | undefined,
  isOutput: boolean,
  problems: Problem[],
): Pick<Segment, 'mask'> {
  const differing = mask?.filter((bit) => bit !== (isOutput ? 1 : 0)).length ?? 0
  if (!mask || differing === 0) return {}
  problems.push({
    kind: 'mask',
    message: `The loss mask of ${differing} of ${mask.length} tokens differs from the mask of a ${isOutput ? 'response' : 'prompt'}; it is kept.`,
    column: 'mask',
  })
  return { mask: [...mask] }
}

/** Checks the number of segments before they are created. */
export const tooManySegments = (parts: readonly ColumnRange[], path: string): Violation | undefined =>
  parts.length > LIMITS.segments
    ? { path, expected: `at most ${LIMITS.segments} segments`, found: String(parts.length) }
    : undefined

/** Returns whether any logprob of the segments is known. */
export const hasLogprobs = (segments: readonly Segment[]): boolean =>
  segments.some((segment) => logprobsOf(segment).some((logprob) => logprob !== null))

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
  const there = copies.flatMap(([path, column]) => (column ? [{ path, column: column.map(comparable) }] : []))
  const [first, ...others] = there
  for (const { path, column } of others)
    for (let index = 0; first && index < Math.max(column.length, first.column.length); index++) {
      if (Object.is(column[index], first.column[index])) continue
      return {
        path: `${path}[${index}]`,
        expected: `${shownEntry(first.column, index)}, as in ${first.path}`,
        found: shownEntry(column, index),
      }
    }
  return undefined
}

/** Masks are numbers or booleans, logprobs are numbers or texts for those that JSON lacks; -0 equals 0. */
const comparable = (entry: unknown): unknown =>
  entry === null || entry === undefined ? null : Number(entry) === 0 ? 0 : Number(entry)

const shownEntry = (column: readonly unknown[], index: number): string =>
  index < column.length ? String(column[index]) : 'nothing'

const ownSchema = z.object({
  rollscope: z.object({ segment_info: z.array(z.tuple([z.boolean(), z.int().min(0)])) }),
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
