/** The corpus report of a page: keeps the samples so far, starts again for another request, and keeps its samples when stopped. */

import { exampleName } from '#lib/analysis/compare/side.ts'
import type { Sample } from '#lib/analysis/corpus/sample.ts'
import type { CorpusSettings } from '#lib/analysis/corpus/settings.ts'
import { NO_TOTALS, type Totals, withSample } from '#lib/analysis/corpus/totals.ts'
import { listTrajectories } from '../library/library.ts'
import { readExample } from '../library/read-example.ts'
import { createStore } from '../store.ts'
import { createCompareWorker } from '../workers/comparison.ts'
import { readerWorker } from '../workers/reader.ts'
import { fileRecords } from '../workers/records.ts'
import { type CorpusDeps, type CorpusSource, type CorpusWorker, checkedCorpus } from './corpus.ts'

interface CorpusState {
  readonly status: /** No report is requested. */
    | { readonly kind: 'none' }
    | { readonly kind: 'running' }
    | { readonly kind: 'finished' }
    /** The user stopped the report; its samples stay. */
    | { readonly kind: 'stopped' }
    /** The report failed; its samples stay. */
    | { readonly kind: 'failed'; readonly error: Error }
  readonly samples: readonly Sample[]
  readonly totals: Totals
  /** Fraction of the input that has been read, from 0 to 1. */
  readonly share: number
  readonly elapsedMs: number
}

interface CorpusAsked {
  readonly source: CorpusSource
  readonly check: CorpusSettings
}

interface CorpusStore {
  subscribe(listener: () => void): () => void
  state(): CorpusState
  /** Returns the files of the report; empty for a report of the library. */
  files(): readonly File[]
  /** Starts a report if the request differs from the current one; undefined clears the report. */
  show(request: CorpusAsked | undefined): void
  /** Repeats the current report. */
  again(): void
  stop(): void
}

interface StoreDeps extends Omit<CorpusDeps, 'workers'> {
  /** Starts the workers of one report. */
  readonly startWorkers: () => readonly (CorpusWorker & { dispose(): void })[]
  /** Returns the time in milliseconds. */
  readonly now: () => number
  /** Milliseconds between two notifications after the first sample, because a page need not draw every sample. */
  readonly tellMs: number
}

/** Each worker loads the tokenizer, which is most of its memory, and one thread reads the files. */
const MOST_WORKERS = 4

const inBrowser: StoreDeps = {
  async readStored(key, signal) {
    const example = exampleName(key)
    return example === undefined
      ? readerWorker.call(`/api/trajectories/${encodeURIComponent(key)}`, signal)
      : readExample(readerWorker, example, signal)
  },
  listStored: listTrajectories,
  fileRecords,
  startWorkers: () =>
    Array.from({ length: Math.min(navigator.hardwareConcurrency, MOST_WORKERS) }, () => createCompareWorker()),
  now: () => performance.now(),
  tellMs: 120,
}

const NOTHING: CorpusState = { status: { kind: 'none' }, samples: [], totals: NO_TOTALS, share: 0, elapsedMs: 0 }

/** Returns a store without a report. */
export function createCorpusStore({ startWorkers, now, tellMs, ...deps }: StoreDeps = inBrowser): CorpusStore {
  const { subscribe, state, set } = createStore<CorpusState>(NOTHING)
  let current: CorpusAsked | undefined
  let controller = new AbortController()
  const begin = async ({ source, check }: CorpusAsked, { signal }: AbortController): Promise<void> => {
    const started = now()
    const workers = startWorkers()
    const samples: Sample[] = []
    let totals = NO_TOTALS
    let share = 0
    let lastReportMs = started
    const report = (status: CorpusState['status']) => {
      lastReportMs = now()
      set({ status, samples: [...samples], totals, share, elapsedMs: lastReportMs - started })
    }
    report({ kind: 'running' })
    try {
      for await (const one of checkedCorpus(source, check, { ...deps, workers }, signal)) {
        signal.throwIfAborted()
        samples.push(one.sample)
        totals = withSample(totals, one.sample)
        share = one.share
        if (samples.length === 1 || now() - lastReportMs >= tellMs) report({ kind: 'running' })
      }
      share = 1
      report({ kind: 'finished' })
    } catch (error) {
      if (signal.aborted) {
        if (signal.reason === STOPPED) report({ kind: 'stopped' })
      } else if (error instanceof Error) report({ kind: 'failed', error })
      else throw error
    } finally {
      for (const worker of workers) worker.dispose()
    }
  }
  const restart = () => {
    controller.abort()
    controller = new AbortController()
    if (current) void begin(current, controller)
    else set(NOTHING)
  }
  return {
    subscribe,
    state,
    files: () => (current?.source.kind === 'files' ? current.source.files : []),
    show(request) {
      if (isSame(request, current)) return
      current = request
      restart()
    },
    again: restart,
    stop: () => controller.abort(STOPPED),
  }
}

const STOPPED = new DOMException('The report was stopped.', 'AbortError')

/** Returns whether two requests are equal; files are compared by identity. */
function isSame(one: CorpusAsked | undefined, other: CorpusAsked | undefined): boolean {
  const files = (request: CorpusAsked | undefined) =>
    request?.source.kind === 'files' ? request.source.files : undefined
  return files(one) === files(other) && JSON.stringify(one) === JSON.stringify(other)
}

/** The report of all pages: a user who opens a sample and returns finds the report in its current state. */
export const corpusStore = createCorpusStore()
