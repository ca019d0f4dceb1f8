/** Exports several trajectories as one file with a line each, in the requested order. */
import { setImmediate } from 'node:timers/promises'
import * as z from 'zod'
import { EXCLUDED_HEADER, type ExportPreview } from '#lib/api/export-preview.ts'
import { writableFormats } from '#lib/formats/registry.ts'
import { withGroupIdLoss } from '#lib/formats/writing/export-losses.ts'
import { numberSamples } from '#lib/formats/writing/group-numbers.ts'
import type { RecordEncoder } from '#lib/formats/writing/writer.ts'
import { isDamagedRecord } from '#lib/store/store-error.ts'
import { severalFileName } from '#lib/trajectory/format/file.ts'
import { ADVANTAGE_FORMULAS } from '#lib/trajectory/reward/advantage.ts'
import { FORCED_CHOICES } from '#lib/trajectory/tokens/forced-tokens.ts'
import { streamResponse } from '../http/ndjson.ts'
import { HttpProblem } from '../http/problem.ts'
import type { Services } from '../services.ts'
import { ADVANTAGE_TEXT, sampleAdvantages } from './export-advantage.ts'
import { formatToWrite, MESSAGE_FORMATS, OWN, type SampleFacts, type WrittenRecord } from './export-parts.ts'
import { FORCED_TEXT } from './export-trajectory.ts'
import { exportPart } from './exporting.ts'

const MOST_KEYS = 10_000
/** Largest number of trajectories whose short records the server's thread reads: each takes one to two milliseconds. */
const FEW_KEYS = 50

const keys = z
  .array(z.string())
  .min(1)
  .max(MOST_KEYS)
  .refine((keys) => new Set(keys).size === keys.length, { message: 'keys that differ' })
  .describe('Keys of stored trajectories, in the order of the lines.')

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
  signal: AbortSignal = NEVER,
): Promise<Response> {
  const { takesMessagesOnly } = formatToWrite(format)
  const advantageOf = sampleAdvantages(keys, advantage, all)
  const selected = await readFacts(keys, false, all, signal)
  const samples = takesMessagesOnly ? selected : selected.filter(hasTokens)
  if (samples.length === 0) throw noTokens(excludedOf(selected))
  const numbers = numbersOf(samples, all)
  const records = (async function* () {
    for (const [at, { key }] of samples.entries()) {
      const options = { format, forced, advantage: advantageOf(key), numbers: numbers[at] }
      yield exportPart({ kind: 'record', key, options }, all, signal, samples.length > FEW_KEYS)
    }
  })()
  return exportFile({ records, count: samples.length, excluded: keys.length - samples.length, format })
}

/** A selected trajectory. */
interface Sample extends SampleFacts {
  readonly key: string
}

const hasTokens = ({ excluded }: Sample): boolean => excluded === undefined

/** Returns the numbers of each sample in their file. */
const numbersOf = (samples: readonly Sample[], { store }: Services) =>
  numberSamples(samples.map(({ key, group }) => group && { ...group, name: store.groupName(key) }))

const NEVER = new AbortController().signal

interface ExportedSamples {
  /** Each one is written when the one before has been taken. */
  readonly records: Iterable<WrittenRecord> | AsyncIterable<WrittenRecord>
  readonly count: number
  /** Number of trajectories that are left out. */
  readonly excluded: number
  readonly format: string
}

/** Returns a file of records, a line for each. */
export function exportFile({ records, count, excluded, format }: ExportedSamples): Response {
  const { encoding } = formatToWrite(format)
  return streamResponse(fileParts(records, encoding?.encoder()), {
    'content-disposition': `attachment; filename="${severalFileName(count, format, encoding?.extension)}"`,
    [EXCLUDED_HEADER]: String(excluded),
    ...(encoding && { 'content-type': encoding.mediaType }),
  })
}

async function* fileParts(
  records: ExportedSamples['records'],
  encoder: RecordEncoder | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const record of records) {
    const part = record instanceof Uint8Array ? record : encoder?.add(record)
    if (part && part.length > 0) yield part
    // Other requests run between two records.
    await setImmediate()
  }
  if (encoder) yield encoder.end()
}

/** Returns what each format would lose of the same selection, before a format is chosen. Throws HttpProblem. */
export async function exportPreview(
  { keys }: z.infer<typeof exportPreviewRequestSchema>,
  all: Services,
  signal: AbortSignal = NEVER,
): Promise<ExportPreview> {
  const selected = await readFacts(keys, true, all, signal)
  const whole = { samples: selected, numbers: numbersOf(selected, all) }
  const trainable = selected.filter(hasTokens)
  const ofTokens = { samples: trainable, numbers: numbersOf(trainable, all) }
  const formats = writableFormats.map(({ name, takesMessagesOnly }, index) => {
    const { samples, numbers } = takesMessagesOnly ? whole : ofTokens
    const counts = new Map<string, number>()
    for (const [at, { group, losses }] of samples.entries()) {
      const own = losses[index] ?? []
      const hasOtherId = name !== OWN && numbers[at]?.groupId !== group?.id
      for (const text of hasOtherId ? withGroupIdLoss(own) : own) counts.set(text, (counts.get(text) ?? 0) + 1)
    }
    return { name, lost: Array.from(counts, ([text, samples]) => ({ text, samples })) }
  })
  const forced = selected.filter(({ hasForced }) => hasForced).length
  return { samples: trainable.length, forced, excluded: excludedOf(selected), formats }
}

type Excluded = ExportPreview['excluded'][number]

/** Returns the trajectories without tokens. */
const excludedOf = (selected: readonly Sample[]): Excluded[] =>
  selected.flatMap(({ key, excluded }) => (excluded ? [{ key, title: excluded.title ?? key, why: excluded.why }] : []))

/** Reads the trajectories in order. Throws HttpProblem if any cannot be read. */
async function readFacts(
  keys: readonly string[],
  wantsLosses: boolean,
  all: Services,
  signal: AbortSignal,
): Promise<readonly Sample[]> {
  const damaged: string[] = []
  const selected: Sample[] = []
  for (const key of keys) {
    signal.throwIfAborted()
    try {
      const part = { kind: 'facts', key, options: { wantsLosses } } as const
      selected.push({ key, ...(await exportPart(part, all, signal, keys.length > FEW_KEYS)) })
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
      detail: `stored trajectories that cannot be read: ${keyList(damaged)}`,
      hint: 'Leave them out of the export, or restore the data folder from a backup.',
    })
  return selected
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
    hint: `Choose runs that have tokens, or another format. ${MESSAGE_FORMATS}`,
  })
}

const SHOWN = 20

const keyList = (keys: readonly string[]): string =>
  `${keys.slice(0, SHOWN).join(', ')}${keys.length > SHOWN ? ` and ${keys.length - SHOWN} more` : ''}`
