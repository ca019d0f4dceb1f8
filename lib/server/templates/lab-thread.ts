/** Runs the threads that render and encode for requests. */
import { TemplateError } from '#lib/templates/chat-template.ts'
import { HttpProblem } from '../http/problem.ts'
import { createLimitedThread, type LimitedThread, ThreadError } from '../limited-thread.ts'
import { BUILT_IN } from '../servers/servers.ts'
import type { LabAnswered, LabAnswers, LabQuestion } from './lab-answers.ts'
import type { LabWorkerStart } from './lab-worker.ts'

/** A thread of the template lab. */
export interface LabThread {
  /** Throws HttpProblem, TemplateError, ThreadError if it takes too long, or the signal's reason. */
  ask<Kind extends keyof LabAnswers>(
    question: LabQuestion & { readonly kind: Kind },
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
  labThread(
    createLimitedThread({
      idleMs: IDLE_MS,
      readying(question) {
        const tokenizer = tokenizerOf(question)
        return tokenizer === undefined ? undefined : { kind: 'load', tokenizer }
      },
      ...options,
    }),
  )

const tokenizerOf = (question: LabQuestion): string | undefined =>
  'tokenizer' in question ? question.tokenizer : (question.asked.tokenizer ?? BUILT_IN)

/** Returns the lab's interface to a thread that replies as a lab worker does. */
export const labThread = (thread: LimitedThread<LabQuestion, LabAnswered>): LabThread => ({
  async ask<Kind extends keyof LabAnswers>(question: LabQuestion & { readonly kind: Kind }, signal: AbortSignal) {
    const answered = await thread.ask(question, signal)
    switch (answered.kind) {
      case 'answer':
        return answered.value as LabAnswers[Kind]
      case 'refused':
        throw new HttpProblem(answered.problem)
      case 'raised':
        throw new TemplateError(answered.message, { className: answered.className, line: answered.line })
    }
  },
  close: thread.close,
})

/** Answers a request of a route. Throws HttpProblem with advice if it takes too long. */
export async function labAnswer<Kind extends keyof LabAnswers>(
  thread: LabThread,
  question: LabQuestion & { readonly kind: Kind },
  signal: AbortSignal,
): Promise<LabAnswers[Kind]> {
  try {
    return await thread.ask<Kind>(question, signal)
  } catch (error) {
    if (!(error instanceof ThreadError)) throw error
    throw new HttpProblem({
      status: 422,
      code: 'TOO_SLOW',
      detail: `rendering and encoding: ${error.message}`,
      hint: 'The template renders slowly, or what it writes is long: use the template lab’s page or `npx rollscope doctor`.',
    })
  }
}
