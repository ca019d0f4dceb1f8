/** The comparing thread as requests use it: one at a time, each for a limited time. */

import { HttpProblem } from '../http/problem.ts'
import { createLimitedThread, type LimitedThread, ThreadError } from '../limited-thread.ts'
import type { CompareAnswered, CompareQuestion, CompareWorkerStart } from './compare-worker-messages.ts'

export type ComparingThread = LimitedThread<CompareQuestion, CompareAnswered>

interface Options {
  readonly workerFile: string
  readonly start: CompareWorkerStart
  /** For one question, downloads of its tokenizers included. */
  readonly longestMs?: number
}

const IDLE_MS = 30_000
const LONGEST_MS = 60_000

export const createComparing = ({ longestMs = LONGEST_MS, ...options }: Options): ComparingThread =>
  createLimitedThread({ name: 'rollscope-compare', idleMs: IDLE_MS, longestMs, ...options })

/** The thread's answer, refusals among them. Throws Problem where it takes too long, or the signal's reason. */
export async function answered(
  question: CompareQuestion,
  { comparing }: { readonly comparing: ComparingThread },
  signal: AbortSignal,
): Promise<CompareAnswered> {
  try {
    return await comparing.ask(question, signal)
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error
    throw new HttpProblem({
      status: 422,
      code: 'TOO_SLOW',
      detail: error.message,
      hint: 'The trajectories are long, or the template renders slowly: use the compare page, or `npx rollscope drift`.',
    })
  }
}
