/** Exports several trajectories as one file with a line each, in the requested order. */
import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import { EXCLUDED_HEADER, type ExportPreview } from '#lib/api/export-preview.ts'
import { writableFormats } from '#lib/formats/registry.ts'
import { numberGroups, type SampleNumbering } from '#lib/formats/writing/group-numbers.ts'
import type { Writer } from '#lib/formats/writing/writer.ts'
import { isDamagedRecord } from '#lib/store/store-error.ts'
import { severalFileName } from '#lib/trajectory/format/file.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { titleOrQuestion } from '#lib/trajectory/messages/first-question.ts'
import { ADVANTAGE_FORMULAS } from '#lib/trajectory/reward/advantage.ts'
import { countForced, FORCED_CHOICES, type ForcedChoice, withForced } from '#lib/trajectory/tokens/forced-tokens.ts'
import { ndjson, streamResponse } from '../http/ndjson.ts'
import { HttpProblem } from '../http/problem.ts'
import { storedTrajectory } from '../library/trajectories.ts'
import type { Services } from '../services.ts'
import { ADVANTAGE_TEXT, advantageColumn } from './export-advantage.ts'
import { FORCED_TEXT, formatToWrite, whyExcluded } from './export-trajectory.ts'

const MOST_KEYS = 10_000

const keys = z
  .array(z.string())
  .min(1)
  .max(MOST_KEYS)
  .refine((keys) => new Set(keys).size === keys.length, { message: 'keys that differ' })
  .describe('Keys of stored trajectories, in the order of the lines. Trajectories without tokens are left out.')

/** Schema of the body of POST /api/export/preview. */
export const exportPreviewRequestSchema = z.strictObject({ keys })

/** Schema of the body of POST /api/export. */
export const exportRequestSchema = z.strictObject({
  keys,
  format: z
    .string()
    .exactOptional()
    .describe(`One of ${writableFormats.map(({ name }) => name).join(', ')}. Default rollscope.`),
  forced: z.enum(FORCED_CHOICES).exactOptional().describe(FORCED_TEXT),
  advantage: z.enum(ADVANTAGE_FORMULAS).exactOptional().describe(ADVANTAGE_TEXT),
})

/**
 * Returns the lines of a file. Each trajectory is read when the line before it has been taken, so hundreds are never in memory at once. All
 * are read once in advance, because a response that has begun cannot report an error, and because groups are numbered over the whole file.
 * Throws HttpProblem.
 */
export async function exportSeveral(
  { keys, format = 'rollscope', forced = 'context', advantage }: z.infer<typeof exportRequestSchema>,
  all: Services,
  signal?: AbortSignal,
): Promise<Response> {
  const file = formatToWrite(format)
  const withAdvantage = advantageColumn(keys, advantage, all)
  const groups: (Trajectory['group'] | undefined)[] = []
  const written: string[] = []
  const visit = (trajectory: Trajectory, key: string) => {
    groups.push(trajectory.group)
    written.push(key)
  }
  const excluded = await forEachTrajectory(keys, visit, all, signal)
  if (written.length === 0) throw noTokens(excluded)
  const trajectories = (function* () {
    // Tokens that the export trains have an advantage too.
    for (const key of written) yield withAdvantage(withForced(storedTrajectory(key, all), forced), key)
  })()
  return exportFile({ trajectories, groups, excluded: excluded.length, format, forced }, file)
}

interface ExportedSamples {
  /** They are taken one by one, as the reader of the file takes lines. */
  readonly trajectories: Iterable<Trajectory>
  /** The groups of all of them, in the same order. */
  readonly groups: readonly (Trajectory['group'] | undefined)[]
  /** Number of trajectories that are left out. */
  readonly excluded: number
  readonly format: string
  readonly forced: ForcedChoice
}

/** Returns a file of trajectories, a line for each. */
export function exportFile(
  { trajectories, groups, excluded, format, forced }: ExportedSamples,
  { write, encoding }: Writer = formatToWrite(format),
): Response {
  const records = recordsOf(trajectories, write, numberGroups(groups), forced)
  const headers = {
    'content-disposition': `attachment; filename="${severalFileName(groups.length, format, encoding?.extension)}"`,
    [EXCLUDED_HEADER]: String(excluded),
  }
  if (!encoding) return ndjson(records, headers)
  return streamResponse(betweenRequests(encoding.encode(records)), { ...headers, 'content-type': encoding.mediaType })
}

/** Returns what each format would lose of the same selection, before a format is chosen. Throws HttpProblem. */
export async function exportPreview(
  { keys }: z.infer<typeof exportPreviewRequestSchema>,
  all: Services,
  signal?: AbortSignal,
): Promise<ExportPreview> {
  const losses = writableFormats.map(({ name, write }) => ({ name, write, samples: new Map<string, number>() }))
  let samples = 0
  let forced = 0
  const visit = (trajectory: Trajectory) => {
    samples++
    if (countForced(trajectory) > 0) forced++
    for (const { write, samples } of losses)
      for (const text of write(trajectory).losses) samples.set(text, (samples.get(text) ?? 0) + 1)
  }
  const excluded = await forEachTrajectory(keys, visit, all, signal)
  const formats = losses.map(({ name, samples }) => ({
    name,
    lost: Array.from(samples, ([text, samples]) => ({ text, samples })),
  }))
  return { samples, forced, excluded, formats }
}

type Excluded = ExportPreview['excluded'][number]

/** Visits the trajectories that have tokens, in order, and returns the others. Throws HttpProblem if any cannot be read. */
async function forEachTrajectory(
  keys: readonly string[],
  visit: (trajectory: Trajectory, key: string) => void,
  all: Services,
  signal: AbortSignal | undefined,
): Promise<readonly Excluded[]> {
  const damaged: string[] = []
  const excluded: Excluded[] = []
  for (const key of keys) {
    signal?.throwIfAborted()
    try {
      const trajectory = storedTrajectory(key, all)
      const why = whyExcluded(trajectory)
      if (why === undefined) visit(trajectory, key)
      else excluded.push({ key, title: titleOf(trajectory) ?? key, why })
    } catch (error) {
      if (!isDamagedRecord(error)) throw error
      damaged.push(key)
    }
    // Thousands take a while, so rollouts and other requests run in between.
    await setImmediate()
  }
  if (damaged.length > 0)
    throw new HttpProblem({
      status: 500,
      code: 'DAMAGED',
      detail: `stored trajectories that cannot be read: ${shownKeys(damaged)}`,
      hint: 'Leave them out of the export, or restore the data folder from a backup.',
    })
  return excluded
}

/** Returns the title with the number of the sample, because the samples of a group share their question. */
function titleOf(trajectory: Trajectory): string | undefined {
  const title = titleOrQuestion(trajectory)
  const { group } = trajectory
  const sample = group && `sample ${group.index + 1}`
  return title === undefined ? sample : [title, sample].filter(Boolean).join(' · ')
}

function noTokens(excluded: readonly Excluded[]): HttpProblem {
  const [first] = excluded
  const detail =
    excluded.length === 1
      ? `the trajectory has no tokens to export. ${first?.why}`
      : `none of the ${excluded.length} trajectories has tokens to export. The first is ${first?.key}: ${first?.why}`
  return new HttpProblem({
    status: 422,
    code: 'NO_TOKENS',
    detail,
    hint: 'Choose runs that have tokens. GET /api/trajectories/{key}/export saves a single run without tokens in Rollscope’s own format.',
  })
}

const SHOWN = 20

const shownKeys = (keys: readonly string[]): string =>
  `${keys.slice(0, SHOWN).join(', ')}${keys.length > SHOWN ? ` and ${keys.length - SHOWN} more` : ''}`

function* recordsOf(
  trajectories: Iterable<Trajectory>,
  write: Writer['write'],
  groups: SampleNumbering,
  forced: ForcedChoice,
): Generator<object> {
  for (const trajectory of trajectories) yield write(withForced(trajectory, forced), groups).value
}

/** Other requests run between two parts. */
async function* betweenRequests(parts: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const part of parts) {
    await setImmediate()
    yield part
  }
}
