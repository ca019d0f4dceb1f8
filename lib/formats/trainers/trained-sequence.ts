/**
 * Reads one sequence of a trainer: token ids, and arrays over all of them or only over those of the response. Arrays of the wrong
 * length are refused, because a shifted logprob looks like any other.
 */

import type { JsonObject } from '#lib/json/json-object.ts'
import { withNestedExperts } from '#lib/trajectory/experts/slices.ts'
import type { Message, Segment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import {
  type ColumnRange,
  hasLogprobs,
  isFiller,
  type LogprobAsWritten,
  lengthViolation,
  maskBits,
  maskRuns,
  type NumberColumns,
  nestedExpertsSchema,
  ownSegments,
  rangesOfLengths,
  segmentOf,
  segmentsLacked,
  tooManySegments,
} from '../columns.ts'
import { type ForeignContent, foreignTrajectory } from '../foreign-trajectory.ts'
import type { RecordSource } from '../format.ts'
import { readMessages, withMessages } from '../messages.ts'
import { type ColumnFields, meaningOf, readNumbers } from '../number-columns.ts'
import { joinedPath, readAt, refuseIf } from '../reading/record-error.ts'

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
  /** The object in which Rollscope wrote the segments. Omitted: the file has none. */
  readonly own?: unknown
}

/** One sample of a record. */
export interface TrainedSample {
  /** The place of the sample in the record. Omitted: it is the record. */
  readonly path?: string
  readonly sequence: TrainedSequence
  /** The messages of the whole conversation. Omitted: the file has none. */
  readonly messages?: unknown
  /** The messages of the first prompt, of a file with only these. */
  readonly promptMessages?: readonly Message[]
  /** The field with the routed experts. Those of other tokens than all but the last stay as they are. Omitted: the file has none. */
  readonly experts?: { readonly field: string; readonly written: unknown }
  /** What the trajectory has besides its tokens. */
  readonly about: Pick<ForeignContent, 'outcome' | 'reward' | 'rest'> &
    Partial<Pick<ForeignContent, 'group' | 'title' | 'modelName' | 'tools' | 'lacked' | 'problems' | 'columnMeanings'>>
}

/** Returns the trajectory of a sample. Refuses columns that do not fit its tokens. */
export function trainedTrajectory(format: string, sample: TrainedSample, source: RecordSource): Trajectory {
  const { path = '', sequence, messages, promptMessages = [], about } = sample
  const content = readAt(path, () => readSequence(sequence))
  const segments =
    promptMessages.length > 0
      ? content.segments.map((segment, index) =>
          index === 0 && segment.kind === 'prompt' ? { ...segment, messages: promptMessages } : segment,
        )
      : segmentsWithMessages(content.segments, messages)
  const lacked = [
    ...content.lacked,
    ...(segments === content.segments ? ['messages'] : []),
    ...(about.outcome.kind === 'ended' && about.outcome.reason === 'unknown' ? ['outcome'] : []),
    ...(about.lacked ?? []),
  ]
  const { field = '', written = null } = sample.experts ?? {}
  const routed = withWrittenExperts(segments, written)
  const rest = routed || written === null ? about.rest : { ...about.rest, [field]: written }
  return foreignTrajectory({ format, ...content, ...about, rest, segments: routed ?? segments, lacked }, source)
}

function withWrittenExperts(segments: readonly Segment[], written: unknown): readonly Segment[] | undefined {
  const { data } = nestedExpertsSchema.safeParse(written)
  return data && withNestedExperts(segments, data)
}

/** Refuses a batch in which a list over its samples has another number of entries. */
export function refuseUneven(batch: JsonObject, names: readonly string[], samples: number, path = ''): void {
  for (const name of names) {
    const list = batch[name]
    if (Array.isArray(list) && list.length !== samples)
      refuseIf({
        path: joinedPath(path, name),
        expected: `${samples} entries (one for each sample)`,
        found: `${list.length} entries`,
      })
  }
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

type SequenceContent = Pick<ForeignContent, 'segments' | 'lacked'> &
  Required<Pick<ForeignContent, 'missing' | 'columnMeanings'>>

/** Reads a sequence. Its segments are those that Rollscope wrote, or the runs of the mask. */
function readSequence(sequence: TrainedSequence): SequenceContent {
  const { ids, promptLength, record = {}, fields = {}, hasFillers } = sequence
  const tokens = ids.length - promptLength
  if (tokens > ids.length || tokens < 0)
    refuseIf({
      path: sequence.mask.field,
      expected: `at most ${ids.length} entries (one for each token)`,
      found: `${tokens}`,
    })
  const of = promptLength > 0 ? ' of the response' : ''
  const columnsInFile = {
    [sequence.mask.field]: sequence.mask.entries,
    [sequence.logprobs.field]: sequence.logprobs.entries,
  }
  const { numbers, meanings } = readNumbers(record, fields, { tokens, of })
  refuseIf(lengthViolation(columnsInFile, tokens, of))
  const mask = sequence.mask.entries ? maskBits(sequence.mask.entries) : Array<1>(tokens).fill(1)
  const columns = {
    ids,
    mask,
    logprobs: sequence.logprobs.entries,
    promptLength,
    hasFillers,
    numbers: hasFillers ? withoutFillers(numbers, mask) : numbers,
  }
  const own = ownSegments(sequence.own, ids.length)
  const fits = own && (promptLength === 0 || initialLength(own) === promptLength)
  const parts = fits ? rangesOfLengths(own) : rangesOf(promptLength, mask)
  refuseIf(tooManySegments(parts, sequence.mask.field))
  const segments = parts.map((part) => segmentOf(part, columns))
  return {
    segments,
    lacked: [...(fits ? [] : [segmentsLacked(sequence.own)]), ...lackedIn(segments, sequence, mask)],
    missing: sequence.mask.entries ? [] : ['mask'],
    columnMeanings: {
      ...(hasLogprobs(segments) && { logprobs: meaningOf('logprobs', sequence.logprobs.field) }),
      ...meanings,
    },
  }
}

/** Returns the length of the prompt with which segments begin; 0 if they begin with a response. */
export const initialLength = ([first]: readonly (readonly [isOutput: boolean, length: number])[]): number =>
  first && !first[0] ? first[1] : 0

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
  { promptLength, logprobs: { entries: logprobs }, mask: { entries }, hasFillers }: TrainedSequence,
  mask: readonly (0 | 1)[],
): readonly string[] {
  const isUnknown = (_: unknown, index: number) => hasFillers && isFiller({ mask, logprobs }, index)
  const fillers = mask.filter(isUnknown).length
  return [
    ...(entries ? [] : ['loss mask: the whole response counts as trained']),
    ...(hasLogprobs(segments) ? (promptLength > 0 ? ['logprobs of the first prompt'] : []) : ['logprobs']),
    ...(fillers > 0 ? [`logprobs of ${fillers} tokens that are not trained: the file has 0.0 there`] : []),
  ]
}
