/** Reads the samples of `rollscope drift` from files one by one and checks each before it reads the next. */
import { open } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { checkSample, comparedSample } from '#lib/analysis/corpus/check.ts'
import { type Sample, type SampleOrigin, uncheckedSample } from '#lib/analysis/corpus/sample.ts'
import { type CorpusSettings, sampleTokenizer } from '#lib/analysis/corpus/settings.ts'
import { descriptorBytes, keepInFolder } from '#lib/files/descriptor-bytes.ts'
import { sqliteTablesIn } from '#lib/files/sqlite-tables.ts'
import { openEach, openEachIn } from '#lib/formats/reading/open-each.ts'
import type { LoadedTokenizer } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { CommandError } from './exit.ts'
import { filesNamed } from './inputs.ts'

/** What each sample is compared with. */
export type RightSideSource =
  /** Compares each sample with its reconstruction. */
  | {
      readonly kind: 'reconstruction'
      readonly check: CorpusSettings
      /** Returns the text of the chosen template; undefined: each sample's own. */
      readonly template: ((hasTools: boolean) => string | undefined) | undefined
    }
  /** The samples of another file. */
  | { readonly kind: 'file'; readonly name: string; readonly records: OtherRecords }

interface OtherRecords {
  /** All records, in order. */
  readonly all: readonly Trajectory[]
  /** Position of each id that a file gives; a repeated id has the position of its first record. Empty if no record has its own id. */
  readonly byId: ReadonlyMap<string, number>
}

interface Reading {
  /** The folder where relative paths begin. */
  readonly folder: string
  /** The standard input, which `-` names. */
  readonly input: AsyncIterable<Uint8Array>
  /** Loads a tokenizer. Throws CommandError. */
  readonly tokenizer: (name: string) => Promise<LoadedTokenizer>
}

/** The reason for files that cannot be read at all. */
export const UNREADABLE = 'The file cannot be read.'

/** Yields the checked samples of all files in order, then the records of the other file that had no partner. Throws CommandError. */
export async function* driftSamples(
  files: readonly string[],
  right: RightSideSource,
  reading: Reading,
): AsyncGenerator<Sample> {
  const partners = new Set<number>()
  let number = 0
  for (const file of files)
    for await (const { place, one } of recordsOf(file, reading)) {
      number++
      if (!one.ok) {
        yield uncheckedSample(place, undefined, one)
        continue
      }
      if (right.kind === 'reconstruction') yield await reconstructedSample(place, one.trajectory, right, reading)
      else yield besideOther(place, one, number, right, partners)
    }
  if (right.kind === 'file') yield* withoutPartner(right, partners)
}

/** Reads all records of a file. Throws CommandError if it cannot be read. */
export async function otherRecords(
  file: string,
  reading: Reading,
  refuse: (why: string) => CommandError,
): Promise<OtherRecords> {
  const all: Trajectory[] = []
  const byId = new Map<string, number>()
  for await (const { one } of recordsOf(file, reading)) {
    if (!one.ok) throw refuse(`${file}: ${one.detail}`)
    if (one.hasId && !byId.has(one.trajectory.id)) byId.set(one.trajectory.id, all.length)
    all.push(one.trajectory)
  }
  return { all, byId }
}

async function reconstructedSample(
  place: SampleOrigin,
  trajectory: Trajectory,
  { check, template }: Extract<RightSideSource, { kind: 'reconstruction' }>,
  { tokenizer }: Reading,
): Promise<Sample> {
  const needed = sampleTokenizer(trajectory, check)
  if (!needed.ok) return uncheckedSample(place, trajectory, needed)
  let loaded: LoadedTokenizer
  try {
    loaded = await tokenizer(needed.value)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const why = `The tokenizer ${needed.value} is not available.`
    return uncheckedSample(place, trajectory, { why, detail: error.message, hint: 'Pass its folder as --tokenizer.' })
  }
  const { template: recorded, tools } = trajectory.model
  return checkSample(place, {
    as: check.as,
    trajectory,
    tokenizer: loaded,
    // Another tokenizer does not change the template: mostly it is the same one in another folder.
    template: template?.(tools.length > 0) ?? (recorded?.text === '' ? undefined : recorded?.text),
  })
}

/**
 * Compares a trajectory with the record of the same id, or of the same number if either side has no ids. Numbers run
 * over all files of a side: a folder of files pairs with a folder of the same files, or with one file of all their
 * records. The position of the partner is added to `partners`.
 */
function besideOther(
  place: SampleOrigin,
  { trajectory: left, hasId }: OpenRecord,
  number: number,
  { name, records: { all, byId } }: Extract<RightSideSource, { kind: 'file' }>,
  partners: Set<number>,
): Sample {
  const isById = hasId && byId.size > 0
  const position = isById ? (byId.get(left.id) ?? all.length) : number - 1
  const right = all[position]
  if (!right)
    return uncheckedSample(place, left, { why: `${name} has no sample with this ${isById ? 'id' : 'number'}.` })
  partners.add(position)
  const side = (trajectory: Trajectory) =>
    ({ as: { kind: 'recorded' }, trajectory, tokenizer: undefined, template: undefined }) as const
  return comparedSample(place, side(left), side(right))
}

function* withoutPartner(
  { name, records }: Extract<RightSideSource, { kind: 'file' }>,
  partners: ReadonlySet<number>,
): Generator<Sample> {
  for (const [position, trajectory] of records.all.entries()) {
    // A second record with the same id counts as the first.
    const counted = records.byId.get(trajectory.id) ?? position
    if (counted === position && !partners.has(position))
      yield uncheckedSample({ kind: 'file', file: name, record: position + 1 }, trajectory, {
        why: `Only ${name} contains this sample.`,
      })
  }
}

interface OpenRecord {
  readonly ok: true
  readonly trajectory: Trajectory
  /** Whether the file gives the trajectory's id. */
  readonly hasId: boolean
}

interface FoundRecord {
  readonly place: SampleOrigin
  readonly one:
    | OpenRecord
    | { readonly ok: false; readonly why: string; readonly detail: string; readonly hint?: string }
}

async function* recordsOf(given: string, { folder, input }: Reading): AsyncGenerator<FoundRecord> {
  const unreadable = (file: string, detail: string): FoundRecord => ({
    place: { kind: 'file', file, record: 1 },
    one: { ok: false, why: UNREADABLE, detail },
  })
  const files = given === '-' ? ['-'] : await filesNamed(folder, given)
  if (files.length === 0)
    yield unreadable(given, 'There is no such file, and a folder of that name contains no rollouts.')
  for (const file of files) {
    let record = 0
    let hasId = true
    const newId = () => {
      hasId = false
      return `record-${record + 1}`
    }
    // The records depend only on the file.
    const source = { file, now: new Date(0).toISOString(), newId }
    const opened = file === '-' ? undefined : await open(path.resolve(folder, file)).catch((error: Error) => error)
    if (opened instanceof Error) {
      yield unreadable(file, opened.message)
      continue
    }
    try {
      const status = await opened?.stat()
      // A pipe, such as `<(zcat a.gz)` of a shell, has no size and is read once.
      const records =
        opened && status?.isFile()
          ? openEachIn(descriptorBytes(opened.fd, status.size), source, { tools: TOOLS })
          : openEach(opened?.createReadStream({ autoClose: false }) ?? input, source)
      for await (const { place: at, ...one } of records) {
        record++
        const place: SampleOrigin = { kind: 'file', file, record, ...(at.line !== undefined && { line: at.line }) }
        if (one.ok) yield { place, one: { ...one, hasId } }
        else
          yield {
            place,
            one: {
              ok: false,
              why: one.isOfFile ? UNREADABLE : 'The record is not a trajectory.',
              detail: one.error.message,
              hint: one.error.hint,
            },
          }
        hasId = true
      }
      if (record === 0) yield unreadable(file, 'The file has no record.')
    } catch (error) {
      if (!(error instanceof Error && ('code' in error || error instanceof RangeError))) throw error
      yield unreadable(file, error.message)
    } finally {
      await opened?.close()
    }
  }
}

/** Decompressed content is kept in the folder for temporary files. */
const TOOLS = { keep: keepInFolder(os.tmpdir()), sqlite: sqliteTablesIn(os.tmpdir()) }
