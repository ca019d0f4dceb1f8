/** Parts of exports and views that read a trajectory: the server computes them of short records, an exporting thread of long ones. */

import { writableFormats } from '#lib/formats/registry.ts'
import type { SampleNumbers } from '#lib/formats/writing/group-numbers.ts'
import { encodedFile, type Writer } from '#lib/formats/writing/writer.ts'
import { fileName } from '#lib/trajectory/format/file.ts'
import { labelsOf } from '#lib/trajectory/format/labels.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { titleOrQuestion } from '#lib/trajectory/messages/first-question.ts'
import type { AdvantageFormula } from '#lib/trajectory/reward/advantage.ts'
import { withAdvantages } from '#lib/trajectory/reward/advantage-column.ts'
import type { GroupRewards } from '#lib/trajectory/reward/group-rewards.ts'
import { countForced, type ForcedChoice, withForced } from '#lib/trajectory/tokens/forced-tokens.ts'
import { packedAnswer, packedBytes } from '#lib/trajectory/tokens/packed-bytes.ts'
import { tokenCount } from '#lib/trajectory/tokens/tokens.ts'
import { encodeLine } from '../http/ndjson.ts'
import { HttpProblem } from '../http/problem.ts'
import { formatNamed, quoteKey } from '../library/trajectories.ts'

/** A part of an export: what is computed of which trajectory. */
export type ExportPart<Kind extends ExportKind = ExportKind> = {
  readonly [K in Kind]: { readonly kind: K; readonly key: string; readonly options: PartOptions[K] }
}[Kind]

/** The kinds of parts. */
export type ExportKind = keyof PartOptions

interface PartOptions {
  readonly facts: { readonly wantsLosses: boolean }
  readonly file: WriteOptions
  readonly record: WriteOptions
  readonly view: { readonly isPacked: boolean }
}

/** The results of the parts by kind. */
export interface ExportResults {
  readonly facts: SampleFacts
  readonly file: TrajectoryFile
  readonly record: WrittenRecord
  /** JSON, or the answer that packed-bytes.ts reads. */
  readonly view: Uint8Array<ArrayBuffer>
}

/** How a trajectory is written. */
export interface WriteOptions {
  readonly format: string
  readonly forced: ForcedChoice
  /** Undefined: no advantages are added. */
  readonly advantage?: SampleAdvantage | undefined
  /** The numbers of the sample in a file with several. Undefined: it has no group, or is the only one. */
  readonly numbers?: SampleNumbers | undefined
}

/** The values that the advantage of a sample depends on. */
export interface SampleAdvantage {
  readonly reward: number | null
  readonly rewards: GroupRewards
  readonly formula: AdvantageFormula
}

/** Facts about a trajectory that decide how it is exported with others. */
export interface SampleFacts {
  readonly group: Trajectory['group'] | undefined
  /** Its name for people, and why formats that need tokens leave it out. Undefined: every format contains it. */
  readonly excluded: { readonly title: string | undefined; readonly why: string } | undefined
  readonly hasForced: boolean
  /** What each writable format loses, in the order of the registry; empty if nobody wants to know. A format that leaves it out loses nothing. */
  readonly losses: readonly (readonly string[])[]
}

/** A file with a single trajectory. */
interface TrajectoryFile {
  readonly name: string
  /** Bytes, because another thread would copy a text of 40 MB for a second. */
  readonly content: Uint8Array<ArrayBuffer>
  readonly mediaType: string
}

/** A record of a file: a line of JSON, or the value that the encoding of the format takes. */
export type WrittenRecord = Uint8Array | object

const parts: {
  readonly [Kind in ExportKind]: (
    trajectory: Trajectory,
    options: PartOptions[Kind],
    key: string,
  ) => ExportResults[Kind]
} = { facts: factsOf, file: fileOf, record: writeRecord, view: viewOf }

/** Computes a part of an export. Throws HttpProblem if the format cannot represent the trajectory. */
export const computePart = <Kind extends ExportKind>(
  { kind, key, options }: ExportPart<Kind>,
  trajectory: Trajectory,
): ExportResults[Kind] => parts[kind](trajectory, options, key)

function factsOf(trajectory: Trajectory, { wantsLosses }: PartOptions['facts']): SampleFacts {
  const why = whyExcluded(trajectory)
  return {
    group: trajectory.group,
    excluded: why === undefined ? undefined : { title: titleOf(trajectory), why },
    hasForced: countForced(trajectory) > 0,
    losses: wantsLosses
      ? writableFormats.map((format) =>
          why === undefined || format.takesMessagesOnly ? format.write(trajectory).losses : [],
        )
      : [],
  }
}

/** Name of Rollscope's own format. */
export const OWN = 'rollscope'

function fileOf(trajectory: Trajectory, options: WriteOptions, key: string): TrajectoryFile {
  const format = formatToWrite(options.format)
  const why = whyExcluded(trajectory)
  if (why !== undefined && !format.takesMessagesOnly)
    throw new HttpProblem({
      status: 422,
      code: 'NO_TOKENS',
      detail: `${format.label} cannot represent the trajectory ${quoteKey(key)}. ${why}`,
      hint: MESSAGE_FORMATS,
    })
  const { content, mediaType } = encodedFile(format, recordValue(trajectory, format, options))
  const name = fileName(trajectory, format.name, format.encoding?.extension)
  return { name, content: typeof content === 'string' ? new TextEncoder().encode(content) : content, mediaType }
}

/** Names the formats that represent a trajectory without tokens, in a sentence. */
export const MESSAGE_FORMATS = `These formats need no tokens: ${writableFormats
  .filter(({ takesMessagesOnly }) => takesMessagesOnly)
  .map(({ name }) => name)
  .join(', ')}.`

/** Returns a trajectory as a record of a file with several. */
export function writeRecord(trajectory: Trajectory, options: WriteOptions): WrittenRecord {
  const format = formatToWrite(options.format)
  const value = recordValue(trajectory, format, options)
  return format.encoding ? value : encodeLine(value)
}

function viewOf(trajectory: Trajectory, { isPacked }: PartOptions['view']): ExportResults['view'] {
  if (isPacked) return packedAnswer(labelsOf(trajectory), packedBytes(trajectory))
  return new TextEncoder().encode(JSON.stringify(trajectory))
}

function recordValue(
  trajectory: Trajectory,
  { name, write }: Writer,
  { forced, advantage, numbers }: WriteOptions,
): object {
  // Tokens that the export trains have an advantage too.
  const trained = withForced(trajectory, forced)
  const { reward = null, rewards, formula } = advantage ?? {}
  const whole = (rewards && formula && withAdvantages(trained, reward, rewards, formula)) ?? trained
  // Rollscope's own format says from which file a group is, so its id stays.
  const { group } = whole
  const hasOtherId = name !== OWN && group && numbers && numbers.groupId !== group.id
  return write(hasOtherId ? { ...whole, group: { ...group, id: numbers.groupId } } : whole, numbers).value
}

/** Returns the title with the number of the sample, because the samples of a group share their question. */
function titleOf(trajectory: Trajectory): string | undefined {
  const title = titleOrQuestion(trajectory)
  const { group } = trajectory
  const sample = group && `sample ${group.index + 1}`
  return title === undefined ? sample : [title, sample].filter(Boolean).join(' · ')
}

/**
 * Returns why formats that need tokens leave a trajectory out: a trainer can use no sample without tokens, and readers of its format refuse
 * one. Undefined if it has tokens.
 */
const whyExcluded = (trajectory: Trajectory): string | undefined =>
  tokenCount(trajectory) > 0 ? undefined : `No tokens: ${endOf(trajectory)}`

function endOf({ outcome, segments }: Trajectory): string {
  // A run that fails before its first token has no segments.
  if (segments.length > 0) return 'it has messages only.'
  switch (outcome.kind) {
    case 'running':
      return 'the run has just started.'
    case 'failed':
      return `the run failed before its first token with ${outcome.code}: ${outcome.message}`
    case 'ended':
      return `the run ended before its first token (${outcome.reason}).`
  }
}

/** Returns the export format of this name. Throws HttpProblem. */
export const formatToWrite = (name: string): Writer => formatNamed(name, writableFormats, 'export format')
