/** Runs the parts of exports: a record of 34 MB that is read and written in the server's thread would block all other requests for seconds. */

import { HttpProblem } from '../http/problem.ts'
import { quoteKey, storedTrajectory } from '../library/trajectories.ts'
import { createLimitedThread, hasThreadEnded } from '../limited-thread.ts'
import type { Services } from '../services.ts'
import { computePart, type ExportKind, type ExportPart, type ExportResults } from './export-parts.ts'

/** The threads that export long records. */
export interface ExportingThread {
  /** Throws HttpProblem, StoreError, ThreadError if it takes too long, or the signal's reason. */
  ask<Kind extends ExportKind>(part: ExportPart & ExportPart<Kind>, signal: AbortSignal): Promise<ExportResults[Kind]>
  close(): Promise<void>
}

/** Data that an exporting thread receives when it starts. */
export interface ExportWorkerStart {
  readonly dataFolder: string
}

interface Options {
  readonly workerFile: string
  readonly start: ExportWorkerStart
  /** Limit for one record in milliseconds. */
  readonly longestMs?: number
  /** Largest heap of a thread in MiB. */
  readonly heapMb?: number
}

const IDLE_MS = 30_000
const LONGEST_MS = 5 * 60_000
/** A record of 28 MB with 1.9 million keys, of which a file of 44 MB is written, fits. */
const HEAP_MB = 2048
/** A short record need not wait for a long one that another user exports. */
const THREADS = 2

/** Returns the exporting threads. Each starts when the ones before it are busy. */
export function createExporting({ longestMs = LONGEST_MS, heapMb = HEAP_MB, ...options }: Options): ExportingThread {
  const limits = { idleMs: IDLE_MS, longestMs, heapMb }
  const threads = Array.from({ length: THREADS }, () => ({
    thread: createLimitedThread<ExportPart, never>({ name: 'rollscope-export', ...limits, ...options }),
    requests: 0,
  }))
  return {
    async ask(part, signal) {
      const free = threads.reduce((least, other) => (other.requests < least.requests ? other : least))
      free.requests++
      try {
        return await free.thread.ask(part, signal)
      } finally {
        free.requests--
      }
    },
    async close() {
      await Promise.all(threads.map(({ thread }) => thread.close()))
    },
  }
}

/**
 * Computes a part of an export, in the thread if the record is long or one of many. Throws HttpProblem, also if it takes too long, StoreError, or the
 * signal's reason.
 */
export async function exportPart<Kind extends ExportKind>(
  part: ExportPart & ExportPart<Kind>,
  all: Services,
  signal: AbortSignal,
  isOneOfMany = false,
): Promise<ExportResults[Kind]> {
  const { key } = part
  if (!all.store.isLong(key, isOneOfMany)) return computePart<Kind>(part, storedTrajectory(key, all))
  try {
    return await all.exporting.ask<Kind>(part, signal)
  } catch (error) {
    if (!hasThreadEnded(error)) throw error
    throw new HttpProblem({
      status: 422,
      code: 'TOO_COMPLEX',
      detail: `the trajectory ${quoteKey(key)} could not be exported: ${error.message}`,
      hint: 'Its record is very long. Stop other exports and try again, or choose a format without its further fields.',
    })
  }
}
