/** Runs the comparing thread for requests: one at a time, each for a limited time. */

import { HttpProblem } from '../http/problem.ts'
import { createLimitedThread, type LimitedThread, ThreadError } from '../limited-thread.ts'
import type { CompareWorkerReply, CompareWorkerStart, CompareWorkRequest } from './compare-worker-messages.ts'

/** The thread that compares and retokenizes. */
export type CompareThread = LimitedThread<CompareWorkRequest, CompareWorkerReply>

interface Options {
  readonly workerFile: string
  readonly start: CompareWorkerStart
  /** Limit of one request in milliseconds, including downloads of its tokenizers. Default 60 s. */
  readonly longestMs?: number
}

const IDLE_MS = 30_000
const LONGEST_MS = 60_000

/** Returns the comparing thread, which starts on its first request and ends after 30 s without one. */
export const createCompareThread = ({ longestMs = LONGEST_MS, ...options }: Options): CompareThread =>
  createLimitedThread({ name: 'rollscope-compare', idleMs: IDLE_MS, longestMs, ...options })

/** Returns the thread's reply. Throws HttpProblem, also if it takes too long, TokenizerError, or the signal's reason. */
export async function runComparison(
  question: CompareWorkRequest,
  { comparing }: { readonly comparing: CompareThread },
  signal: AbortSignal,
): Promise<CompareWorkerReply> {
  try {
    return await comparing.ask(question, signal)
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error
    throw new HttpProblem({
      status: 422,
      code: 'TOO_SLOW',
      detail: error.message,
      hint: 'The trajectories are long, or the template renders slowly: use the compare page or `npx rollscope drift`.',
    })
  }
}
