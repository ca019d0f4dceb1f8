/** Runs the importing thread for requests: one file at a time, each with a limit of time and of memory. */

import type { ImportResult } from '#lib/api/imported.ts'
import { HttpProblem } from '../http/problem.ts'
import { createLimitedThread, type LimitedThread, ThreadError } from '../limited-thread.ts'
import type { ImportQuestion, ImportWorkerStart } from './import-answer.ts'

/** The thread that imports files. */
export type ImportingThread = LimitedThread<ImportQuestion, ImportResult>

interface Options {
  readonly workerFile: string
  readonly start: ImportWorkerStart
  /** Limit for one file in milliseconds. */
  readonly longestMs?: number
  /** Largest heap of the thread in MiB. */
  readonly heapMb?: number
}

const IDLE_MS = 30_000
const LONGEST_MS = 10 * 60_000
const HEAP_MB = 1024
/** With Node’s default of 48 MiB, an import takes twice as much memory and no less time. */
const NEW_OBJECTS_MB = 12

/** Returns the importing thread, which starts on its first request. */
export const createImporting = ({ longestMs = LONGEST_MS, heapMb = HEAP_MB, ...options }: Options): ImportingThread =>
  createLimitedThread({
    name: 'rollscope-import',
    idleMs: IDLE_MS,
    longestMs,
    heapMb,
    newObjectsMb: NEW_OBJECTS_MB,
    ...options,
  })

/** Returns the imported trajectories. Throws HttpProblem, TokenizerError, StoreError, or the signal's reason. */
export async function importAnswer(
  question: ImportQuestion,
  thread: Pick<ImportingThread, 'ask'>,
  signal: AbortSignal,
): Promise<ImportResult> {
  return thread.ask(question, signal).catch((error: Error & { readonly code?: string }) => {
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY')
      throw new HttpProblem({
        status: 422,
        code: 'TOO_COMPLEX',
        detail: 'a record of the file needs more memory than an import may use',
        hint: 'Leave out columns such as alternatives or routed experts, or split the record. Nothing was stored.',
      })
    if (!(error instanceof ThreadError)) throw error
    throw new HttpProblem({
      status: 422,
      code: 'TOO_SLOW',
      detail: `the import was stopped: ${error.message}`,
      hint: 'Store the records in several files. Nothing was stored.',
    })
  })
}
