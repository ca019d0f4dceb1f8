/**
 * Reads one sequence of a trainer: token ids, and arrays over all of them or only over those of the response. Arrays of the wrong
 * length are refused, because a shifted logprob looks like any other.
 */

import type * as z from 'zod/mini'
import type { JsonObject } from '#lib/json/json-object.ts'
import type { Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { schemaViolation, type Violation } from '#lib/util/schema-violation.ts'
import {
  type ColumnRange,
  hasLogprobs,
  isFiller,
  type LogprobAsWritten,
  lengthViolation,
  maskBits,
  maskRuns,
  type NumberColumns,
  segmentOf,
  tooManySegments,
} from '../columns.ts'
import { type ForeignContent, foreignTrajectory } from '../foreign-trajectory.ts'
import type { ReadResult, RecordSource } from '../format.ts'
import { readMessages, withMessages } from '../messages.ts'
import { type ColumnFields, meaningOf, readNumbers } from '../number-columns.ts'

/** A column with the name of its field in the file. */
interface NamedColumn<T> {
  readonly field: string
  readonly entries: readonly T[] | null | undefined
}

/** A sequence as a file has it. */
interface TrainedSequence {
  readonly ids: readonly number[]
  /** Number of tokens before the first entry of every other column: 0 if the columns are over all tokens. */
  readonly promptLength: number
  readonly mask: NamedColumn<0 | 1 | boolean>
  readonly logprobs: NamedColumn<LogprobAsWritten>
  /** The record with the further columns. Omitted: it has none. */
  readonly record?: JsonObject
  readonly fields?: ColumnFields
  /** True if 0 at an untrained token means that the number is unknown. */
  readonly hasFillers: boolean
}

/** One sample of a record. */
export interface TrainedSample {
  /** The place of the sample in the record; '' if it is the record. */
  readonly path: string
  readonly sequence: TrainedSequence
  /** The messages of the whole conversation. Omitted: the file has none. */
  readonly messages?: unknown
  /** What the trajectory has besides its tokens. */
  readonly about: Pick<ForeignContent, 'outcome' | 'reward' | 'rest'> &
    Partial<Pick<ForeignContent, 'group' | 'title' | 'modelName' | 'tools' | 'lacked' | 'problems'>>
}

/** A list of samples, or the violation of the first wrong one. */
export type ReadSamples = readonly TrainedSample[] | { readonly error: Violation }

/** Returns a trajectory for each sample, or the first column that does not fit its tokens. */
export function readSamples(format: string, samples: ReadSamples, source: RecordSource): ReadResult {
  if ('error' in samples) return { ok: false, error: samples.error }
  const trajectories: Trajectory[] = []
  for (const { path, sequence, messages, about } of samples) {
    const read = readSequence(sequence)
    if (!read.ok) return { ok: false, error: atPath(path, read.error) }
    const { content } = read
    const segments = segmentsWithMessages(content.segments, messages)
    const lacked = [
      ...content.lacked,
      ...(segments === content.segments ? ['messages'] : []),
      ...(about.outcome.kind === 'ended' && about.outcome.reason === 'unknown' ? ['outcome'] : []),
      ...(about.lacked ?? []),
    ]
    trajectories.push(foreignTrajectory({ format, ...content, ...about, segments, lacked }, source))
  }
  return { ok: true, trajectories }
}

/** Reads each value as a sample, up to the first violation. */
export function allSamples(
  values: readonly unknown[],
  pathOf: (index: number) => string,
  read: (value: unknown, path: string) => TrainedSample | { readonly error: Violation },
): ReadSamples {
  const samples: TrainedSample[] = []
  for (const [index, value] of values.entries()) {
    const sample = read(value, pathOf(index))
    if ('error' in sample) return sample
    samples.push(sample)
  }
  return samples
}

/** Returns the violation with the path of its sample. */
const atPath = (path: string, error: Violation): Violation => ({
  ...error,
  path: [path, error.path]
    .filter((part) => part !== '')
    .join('.')
    .replaceAll('.[', '['),
})

/** Parses a record, or returns the violation with the path of its sample. */
export function parseRecord<T>(
  schema: z.ZodMiniType<T>,
  value: unknown,
  path = '',
): { readonly data: T } | { readonly error: Violation } {
  const parsed = schema.safeParse(value)
  return parsed.success ? { data: parsed.data } : { error: atPath(path, schemaViolation(parsed.error, value)) }
}

/** If the answers within a prompt are not marked in the mask, the prompt has all messages but the last answer. */
function segmentsWithMessages(segments: readonly Segment[], messages: unknown): readonly Segment[] {
  const split = withMessages(segments, messages)
  if (split) return split
  const [prompt, response, ...others] = segments
  const all = readMessages(messages)
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : undefined
  if (!all || prompt?.kind !== 'prompt' || response?.kind !== 'response' || others.length > 0) return segments
  const isAnswered = all.at(-1)?.role === 'assistant'
  return [
    { ...prompt, messages: isAnswered ? all.slice(0, -1) : all },
    { ...response, ...(isAnswered && { message: last as JsonObject }) },
  ]
}

type ReadSequence =
  | {
      readonly ok: true
      readonly content: Pick<ForeignContent, 'segments' | 'lacked'> &
        Required<Pick<ForeignContent, 'missing' | 'columnMeanings'>>
    }
  | { readonly ok: false; readonly error: Violation }

/** Reads a sequence. Its segments are the runs of the mask. */
function readSequence(sequence: TrainedSequence): ReadSequence {
  const { ids, promptLength, record = {}, fields = {}, hasFillers } = sequence
  if (promptLength > ids.length || promptLength < 0)
    return {
      ok: false,
      error: {
        path: sequence.mask.field,
        expected: `at most ${ids.length} entries (one for each token)`,
        found: `${ids.length - promptLength}`,
      },
    }
  const tokens = ids.length - promptLength
  const of = promptLength > 0 ? ' of the response' : ''
  const given = { [sequence.mask.field]: sequence.mask.entries, [sequence.logprobs.field]: sequence.logprobs.entries }
  const read = readNumbers(record, fields, { tokens, of })
  if ('error' in read) return { ok: false, error: read.error }
  const error = lengthViolation(given, tokens, of)
  if (error) return { ok: false, error }
  const assumed = Array<1>(tokens).fill(1)
  const mask = sequence.mask.entries ? maskBits(sequence.mask.entries) : assumed
  const logprobs = sequence.logprobs.entries
  const columns = {
    ids,
    mask,
    logprobs,
    promptLength,
    hasFillers,
    numbers: hasFillers ? withoutFillers(read.numbers, mask) : read.numbers,
  }
  const parts = rangesOf(promptLength, mask)
  const tooMany = tooManySegments(parts, sequence.mask.field)
  if (tooMany) return { ok: false, error: tooMany }
  const segments = parts.map((part) => segmentOf(part, columns))
  return {
    ok: true,
    content: {
      segments,
      lacked: lackedIn(segments, sequence, mask),
      missing: sequence.mask.entries ? [] : ['mask'],
      columnMeanings: {
        ...(hasLogprobs(segments) && { logprobs: meaningOf('logprobs', sequence.logprobs.field) }),
        ...read.meanings,
      },
    },
  }
}

const rangesOf = (promptLength: number, mask: readonly (0 | 1)[]): readonly ColumnRange[] => [
  ...(promptLength > 0 ? [{ isOutput: false, start: 0, end: promptLength }] : []),
  ...maskRuns(mask).map(({ isOutput, start, end }) => ({
    isOutput,
    start: start + promptLength,
    end: end + promptLength,
  })),
]

const withoutFillers = (numbers: NumberColumns, mask: readonly (0 | 1)[]): NumberColumns =>
  Object.fromEntries(
    Object.entries(numbers).map(([name, column]) => [
      name,
      column.map((number, index) => (number === 0 && mask[index] === 0 ? null : number)),
    ]),
  )

function lackedIn(
  segments: readonly Segment[],
  { logprobs: { entries: logprobs }, mask: { entries }, hasFillers }: TrainedSequence,
  mask: readonly (0 | 1)[],
): readonly string[] {
  const isUnknown = (_: unknown, index: number) => hasFillers && isFiller({ mask, logprobs }, index)
  const fillers = mask.filter(isUnknown).length
  return [
    'segments: taken from the loss mask',
    ...(entries ? [] : ['loss mask: the whole response counts as trained']),
    ...(hasLogprobs(segments) ? [] : ['logprobs']),
    ...(fillers > 0 ? [`logprobs of ${fillers} tokens that are not trained: the file has 0.0 there`] : []),
  ]
}
