/** Builds a trajectory from another program's file. Information that such files lack is omitted and reported. */
import { type JsonObject, storable } from '#lib/json/json-object.ts'
import type { MissingContent } from '#lib/trajectory/format/missing-content.ts'
import {
  type ColumnMeaning,
  FORMAT,
  type Problem,
  type Segment,
  type Trajectory,
} from '#lib/trajectory/format/trajectory.ts'
import { describeValue } from '#lib/util/schema-violation.ts'
import { hasLogprobs } from './columns.ts'
import type { RecordSource } from './format.ts'

/** The content of a record as far as the trajectory format has fields for it. */
export interface ForeignContent {
  readonly format: string
  readonly segments: readonly Segment[]
  readonly outcome: Trajectory['outcome']
  /** A number; true and false are 1 and 0, as in Python. */
  readonly reward: unknown
  /** Information that this file lacks, in addition to what all such files lack. */
  readonly lacked: readonly string[]
  /** The same by name, as far as the trajectory itself does not show it: an assumed loss mask. */
  readonly missing?: readonly MissingContent[]
  readonly group?: Trajectory['group'] | undefined
  readonly title?: string | undefined
  /** ISO 8601. Omitted: the time of the import. */
  readonly createdAt?: string | undefined
  readonly modelName?: string | undefined
  /** Omitted: the file does not contain the tools. */
  readonly tools?: Trajectory['model']['tools'] | undefined
  readonly columnMeanings?: Readonly<Record<string, ColumnMeaning>>
  readonly forkedFrom?: Trajectory['forkedFrom']
  readonly problems?: readonly Problem[]
  /** Texts of ids that the file gives. Omitted: none. */
  readonly vocab?: Trajectory['vocab']
  /** True if the record contains the parameters of its requests. */
  readonly hasSampling?: boolean
  readonly routedExperts?: readonly string[] | undefined
  readonly imageData?: readonly string[] | undefined
  /** Content without a field; undefined if there is none. */
  readonly rest: JsonObject | undefined
}

/** Returns the trajectory of a file's content. */
export function foreignTrajectory(
  content: ForeignContent,
  { file, now, newId }: RecordSource,
  id = newId(),
): Trajectory {
  const { format, segments, outcome, group, title, createdAt = now, modelName, tools } = content
  const reward = typeof content.reward === 'boolean' ? Number(content.reward) : content.reward
  const { columnMeanings, forkedFrom, vocab = {}, routedExperts, imageData, rest } = content
  const wrongReward = rewardProblems(reward)
  const problems = [...wrongReward, ...(content.problems ?? [])]
  return {
    format: FORMAT,
    id,
    createdAt,
    ...(title !== undefined && { title }),
    ...(typeof reward === 'number' && { reward: wrongReward.length > 0 ? null : reward }),
    ...(group && { group }),
    model: { ...(modelName !== undefined && { name: modelName }), tools: tools ?? [] },
    vocab,
    segments,
    outcome,
    provenance: {
      kind: 'import',
      format,
      ...(file !== undefined && { file }),
      lacked: [...lackedIn(content), ...lackedReward(reward)],
      missing: missingIn(content),
    },
    ...(problems.length > 0 && { problems }),
    ...(columnMeanings && Object.keys(columnMeanings).length > 0 && { columnMeanings }),
    ...(forkedFrom && { forkedFrom }),
    ...(routedExperts && routedExperts.length > 0 && { routedExperts }),
    ...(imageData && imageData.length > 0 && { imageData }),
    ...(rest && { foreign: { [format]: storable(rest) } }),
  }
}

const WORDS = new Intl.ListFormat('en-GB')

function lackedIn(content: ForeignContent): readonly string[] {
  const { modelName, tools, hasSampling = false, lacked } = content
  const settings = [
    ...(modelName === undefined ? ['model'] : []),
    ...(tools === undefined ? ['tools'] : []),
    ...(hasSampling ? [] : ['sampling parameters']),
  ]
  return [
    ...(lacksTexts(content) ? ['texts of the tokens'] : []),
    ...(settings.length > 0 ? [WORDS.format(settings)] : []),
    ...lacked,
  ]
}

/** Returns whether the file does not give the text of an id. */
const lacksTexts = ({ segments, vocab = {} }: ForeignContent): boolean =>
  segments.some(({ ids }) => ids.some((id) => !Object.hasOwn(vocab, id)))

/** Returns what the trajectory itself shows to be missing, and what the reader of the format adds. */
function missingIn(content: ForeignContent): readonly MissingContent[] {
  const { segments, missing = [], columnMeanings = {} } = content
  const hasMessages = segments.some((segment) =>
    segment.kind === 'prompt' ? segment.messages.length > 0 : segment.message !== undefined,
  )
  const lacksIds = segments.some(({ kind, ids }) => kind === 'response' && ids.length === 0)
  const meaning = columnMeanings.logprobs
  const all: readonly MissingContent[] = [
    ...(lacksIds ? ['ids' as const, 'mask' as const] : []),
    ...(lacksTexts(content) ? ['texts' as const] : []),
    ...(hasMessages ? [] : ['messages' as const]),
    ...(hasLogprobs(segments)
      ? [
          ...(meaning?.values === undefined ? ['logprob_values' as const] : []),
          ...(meaning?.temperature === undefined ? ['temperature' as const] : []),
        ]
      : ['logprobs' as const]),
    ...missing,
    'special_tokens',
  ]
  return [...new Set(all)]
}

/** Says that a value is no reward, such as the scores of several judges. Formats keep it as content without a field. */
const lackedReward = (reward: unknown): readonly string[] =>
  reward === undefined || reward === null || typeof reward === 'number'
    ? []
    : [`reward: expected a number, found ${describeValue(reward)}`]

function rewardProblems(reward: unknown): Problem[] {
  if (typeof reward !== 'number' || Number.isFinite(reward)) return []
  return [
    {
      kind: 'number',
      message: 'The reward is a number that JSON cannot represent.',
      column: 'reward',
      raw: String(reward),
    },
  ]
}

/** Returns the time of seconds since 1970 as ISO 8601, or undefined for another value. */
export function isoTime(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number') return undefined
  const time = new Date(seconds * 1000)
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString()
}

/** Returns a time in a text as ISO 8601; undefined if it is none. */
export const isoText = (time: unknown): string | undefined =>
  typeof time === 'string' && !Number.isNaN(Date.parse(time)) ? new Date(time).toISOString() : undefined
