/** The comparing thread as requests use it: one at a time, each for a limited time. */
import { createAskedThread, ThreadError } from './asked-thread.ts'
import type { CompareAnswered, CompareQuestion, CompareWorkerStart } from './compare-worker-messages.ts'
import { Problem } from './problem.ts'

export interface ComparingThread {
  /** Rejects with ThreadError where it takes too long, or with the signal's reason. */
  ask(question: CompareQuestion, signal: AbortSignal): Promise<CompareAnswered>
  close(): Promise<void>
}

interface Options {
  readonly workerFile: string
  readonly start: CompareWorkerStart
  /** For one question, downloads of its tokenizers included. */
  readonly longestMs?: number
}

const IDLE_MS = 30_000
const LONGEST_MS = 60_000

export function createComparing({ workerFile, start, longestMs = LONGEST_MS }: Options): ComparingThread {
  const thread = createAskedThread<CompareQuestion, CompareAnswered>({
    name: 'rollscope-compare',
    workerFile,
    start,
    idleMs: IDLE_MS,
  })
  let before: Promise<unknown> = Promise.resolve()

  const limited = async (question: CompareQuestion): Promise<CompareAnswered> => {
    let isLate = false
    const watch = setTimeout(() => {
      isLate = true
      thread.end()
    }, longestMs)
    try {
      return await thread.ask(question)
    } catch (error) {
      throw isLate ? new ThreadError(`it took longer than ${longestMs / 1000} s`) : error
    } finally {
      clearTimeout(watch)
    }
  }

  return {
    ask(question, signal) {
      const answer = before.then(() => {
        // Given up while it waited.
        signal.throwIfAborted()
        return limited(question)
      })
      before = answer.catch(() => {})
      return answer
    },
    close: () => thread.end(),
  }
}

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
    throw new Problem({
      status: 422,
      code: 'TOO_SLOW',
      detail: error.message,
      hint: 'The trajectories are long, or the template renders slowly: use the compare page, or `npx rollscope drift`.',
    })
  }
}
