/** Runs the threads that render and encode for requests. */

import { BUILT_IN } from '#lib/api/server-name.ts'
import { HttpProblem } from '../http/problem.ts'
import { createLimitedThread, ThreadError } from '../limited-thread.ts'
import type { LabAnswers, LabWorkRequest } from './lab-answers.ts'
import type { LabWorkerStart } from './lab-worker.ts'

/** A thread of the template lab. */
export interface LabThread {
  /** Throws HttpProblem, TokenizerError, TemplateError, ThreadError if it takes too long, or the signal's reason. */
  ask<Kind extends keyof LabAnswers>(
    question: LabWorkRequest & { readonly kind: Kind },
    signal: AbortSignal,
  ): Promise<LabAnswers[Kind]>
  close(): Promise<void>
}

interface Options {
  readonly name: string
  readonly workerFile: string
  readonly start: LabWorkerStart
  /** Limit in milliseconds for all renders and encodings of one request together. */
  readonly longestMs: number
}

/** Two minutes, so that a tokenizer stays loaded during the pauses of a run. */
const IDLE_MS = 120_000

/** Returns a thread that starts on its first request and loads the tokenizer outside of the time limit. */
export const createLabThread = (options: Options): LabThread =>
  createLimitedThread<LabWorkRequest, never>({
    idleMs: IDLE_MS,
    readying(question) {
      const tokenizer = tokenizerOf(question)
      return tokenizer === undefined ? undefined : { kind: 'load', tokenizer }
    },
    ...options,
  })

const tokenizerOf = (question: LabWorkRequest): string | undefined =>
  'tokenizer' in question ? question.tokenizer : (question.parts.tokenizer ?? BUILT_IN)

/** Answers a request of a route. Throws HttpProblem with advice if it takes too long. */
export async function labAnswer<Kind extends keyof LabAnswers>(
  thread: LabThread,
  question: LabWorkRequest & { readonly kind: Kind },
  signal: AbortSignal,
): Promise<LabAnswers[Kind]> {
  try {
    return await thread.ask<Kind>(question, signal)
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error
    throw new HttpProblem({
      status: 422,
      code: 'TOO_SLOW',
      detail: `the template lab: ${error.message}`,
      hint: 'The template renders slowly, or a text is long: use the page of the template lab or `npx rollscope doctor`.',
    })
  }
}
