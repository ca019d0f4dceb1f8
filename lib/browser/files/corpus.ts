/**
 * Sends a corpus through the workers sample by sample. Each worker compares one sample and has the next one already, so it does not
 * wait for the page; one more sample is read meanwhile, and no more are in memory.
 */

import type { RunComparison } from '#lib/analysis/compare/tasks.ts'
import { type Sample, type SampleOrigin, uncheckedSample } from '#lib/analysis/corpus/sample.ts'
import { type CorpusSettings, sampleTokenizer } from '#lib/analysis/corpus/settings.ts'
import type { TrajectorySummary } from '#lib/api/library.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { ApiError } from '../api.ts'
import type { TrajectoriesQuery } from '../library/library.ts'
import type { FileRecord } from '../workers/record-host.ts'
import { TaskError } from '../workers/task-error.ts'

/** The samples of a corpus. */
export type CorpusSource =
  | { readonly kind: 'keys'; readonly keys: readonly string[] }
  /** All stored trajectories that a list with these filters shows. */
  | {
      readonly kind: 'library'
      readonly filter: Pick<TrajectoriesQuery, 'q' | 'outcome' | 'tag' | 'source' | 'health' | 'estimates'>
    }
  | { readonly kind: 'files'; readonly files: readonly File[] }

/** Returns the files with unique names, because files of several folders may share a name. */
export const namedFiles = (files: readonly File[]): readonly { readonly name: string; readonly file: File }[] =>
  files.map((file, index) => {
    const before = files.slice(0, index).filter(({ name }) => name === file.name).length
    return { name: before === 0 ? file.name : `${file.name} (${before + 1})`, file }
  })

/** The functions that read and compare samples. */
export interface CorpusDeps {
  /** Reads a stored trajectory. Throws ApiError, or the signal's reason. */
  readonly readStored: (key: string, signal: AbortSignal) => Promise<TrajectoryView>
  /** Returns a page of the library. Throws ApiError. */
  readonly listStored: (
    query: TrajectoriesQuery,
    signal: AbortSignal,
  ) => Promise<{ readonly trajectories: readonly Pick<TrajectorySummary, 'key' | 'tokens'>[]; readonly next?: string }>
  readonly fileRecords: (file: File, signal: AbortSignal) => AsyncGenerator<FileRecord>
  /** The workers that compare samples at the same time. There is at least one. */
  readonly workers: readonly CorpusWorker[]
}

/** A worker that compares samples. */
export interface CorpusWorker {
  readonly run: RunComparison
  release(trajectory: TrajectoryView): void
}

/** The samples that each worker has: the one that it compares, and the next one. */
const SAMPLES_OF_WORKER = 2

/** A checked sample. */
export interface CheckedSampleRow {
  readonly sample: Sample
  /** Fraction of the input that has been read, from 0 to 1. */
  readonly share: number
}

/**
 * Yields each sample as soon as it and all samples before it are checked. Throws FileError if a file cannot be read further, ApiError if
 * the server does not answer, TaskError if a worker cannot be started, and the signal's reason.
 */
export async function* checkedCorpus(
  source: CorpusSource,
  check: CorpusSettings,
  deps: CorpusDeps,
  signal: AbortSignal,
): AsyncGenerator<CheckedSampleRow> {
  const { workers } = deps
  const refused = new Map<string, ApiError>()
  const items = readings(source, deps, signal)
  const readNext = (): Promise<Step> =>
    items.next().then(
      ({ done, value }) => (done ? { kind: 'end' } : { kind: 'read', read: value }),
      (error: unknown) => ({ kind: 'end', failure: { error } }),
    )
  const checks: Promise<Step>[] = []
  let reading: Promise<Step> | undefined = readNext()
  let failure: { readonly error: unknown } | undefined
  let started = 0
  try {
    while (reading || checks.length > 0) {
      const awaited = checks.slice(0, 1)
      if (reading && checks.length < SAMPLES_OF_WORKER * workers.length) awaited.push(reading)
      const step = await Promise.race(awaited)
      switch (step.kind) {
        case 'checked':
          void checks.shift()
          yield step.checked
          break
        case 'read': {
          // Of the samples of this worker, at most one is not yielded yet.
          const checking = checkedOne(step.read, elementAt(workers, started++ % workers.length))
          // The error is handled when the sample is awaited.
          checking.catch(() => {})
          checks.push(checking)
          reading = readNext()
          break
        }
        case 'end':
          reading = undefined
          failure = step.failure
      }
    }
  } finally {
    // The item that is being read is not needed any more.
    items.return(undefined).catch(() => {})
  }
  if (failure) throw failure.error

  async function checkedOne({ place, reading, share }: Reading, worker: CorpusWorker): Promise<Step> {
    const sample = reading.ok ? await sampleOf(place, reading.trajectory, worker) : reading.sample
    return { kind: 'checked', checked: { sample, share } }
  }

  async function sampleOf(place: SampleOrigin, trajectory: TrajectoryView, worker: CorpusWorker): Promise<Sample> {
    const tokenizer = sampleTokenizer(trajectory, check)
    if (!tokenizer.ok) return uncheckedSample(place, trajectory, tokenizer)
    const name = tokenizer.value
    try {
      const before = refused.get(name)
      if (before) throw before
      return await worker.run(
        'sample',
        { place, as: check.as },
        { trajectories: [trajectory], tokenizers: [name], signal },
      )
    } catch (error) {
      if (signal.aborted) throw error
      if (error instanceof ApiError && error.status > 0) {
        refused.set(name, error)
        const { message: detail, hint } = error
        return uncheckedSample(place, trajectory, {
          why: `The tokenizer ${name} is not available.`,
          detail,
          ...hintField(hint),
        })
      }
      if (error instanceof TaskError && error.code !== 'WORKER_FAILED') {
        const { message: detail, hint } = error
        return uncheckedSample(place, trajectory, {
          why: 'The sample could not be compared.',
          detail,
          ...hintField(hint),
        })
      }
      throw error
    } finally {
      worker.release(trajectory)
    }
  }
}

/** What the report waits for: the oldest check, or the next reading. */
type Step =
  | { readonly kind: 'checked'; readonly checked: CheckedSampleRow }
  | { readonly kind: 'read'; readonly read: Reading }
  | { readonly kind: 'end'; readonly failure?: { readonly error: unknown } }

interface Reading {
  readonly place: SampleOrigin
  readonly reading:
    | { readonly ok: true; readonly trajectory: TrajectoryView }
    | { readonly ok: false; readonly sample: Sample }
  readonly share: number
}

function readings(source: CorpusSource, deps: CorpusDeps, signal: AbortSignal): AsyncGenerator<Reading> {
  switch (source.kind) {
    case 'keys':
      return storedReadings(
        source.keys.map((key) => ({ key, tokens: 1 })),
        deps,
        signal,
      )
    case 'library':
      return libraryReadings(source.filter, deps, signal)
    case 'files':
      return fileReadings(source.files, deps, signal)
  }
}

type Listed = Pick<TrajectorySummary, 'key' | 'tokens'>

const LONGEST_PAGE = 200

async function* libraryReadings(
  filter: Extract<CorpusSource, { kind: 'library' }>['filter'],
  deps: CorpusDeps,
  signal: AbortSignal,
): AsyncGenerator<Reading> {
  const all: Listed[] = []
  let cursor: string | undefined
  do {
    const query = { ...filter, limit: LONGEST_PAGE, ...(cursor !== undefined && { cursor }) }
    const page = await deps.listStored(query, signal)
    all.push(...page.trajectories)
    cursor = page.next
  } while (cursor !== undefined)
  yield* storedReadings(all, deps, signal)
}

async function* storedReadings(
  listed: readonly Listed[],
  deps: CorpusDeps,
  signal: AbortSignal,
): AsyncGenerator<Reading> {
  const total = listed.reduce((sum, { tokens }) => sum + tokens, 0)
  let read = 0
  for (const { key, tokens } of listed) {
    read += tokens
    const place: SampleOrigin = { kind: 'stored', key }
    const share = total === 0 ? 1 : read / total
    try {
      yield { place, reading: { ok: true, trajectory: await deps.readStored(key, signal) }, share }
    } catch (error) {
      if (signal.aborted || !(error instanceof ApiError) || error.status === 0 || error.status === 401) throw error
      const { message: detail, hint } = error
      const sample = uncheckedSample(place, undefined, {
        why: 'The library cannot provide this trajectory.',
        detail,
        ...hintField(hint),
      })
      yield { place, reading: { ok: false, sample }, share }
    }
  }
}

async function* fileReadings(files: readonly File[], deps: CorpusDeps, signal: AbortSignal): AsyncGenerator<Reading> {
  const total = Math.max(
    1,
    files.reduce((sum, { size }) => sum + size, 0),
  )
  let before = 0
  for (const { name, file } of namedFiles(files)) {
    let record = 0
    for await (const one of deps.fileRecords(file, signal)) {
      const place: SampleOrigin = {
        kind: 'file',
        file: name,
        record: ++record,
        ...(one.line !== undefined && { line: one.line }),
      }
      const share = (before + one.bytes) / total
      if (one.ok) yield { place, reading: { ok: true, trajectory: one.trajectory }, share }
      else yield { place, reading: { ok: false, sample: notOpened(place, one) }, share }
    }
    before += file.size
  }
}

const notOpened = (place: SampleOrigin, { message, hint }: Extract<FileRecord, { ok: false }>): Sample =>
  uncheckedSample(place, undefined, { why: 'The record is not a trajectory.', detail: message, hint })

const hintField = (hint: string | undefined) => (hint === undefined ? {} : { hint })
