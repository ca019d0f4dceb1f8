/** The threads that render and encode, as requests use them. */
import { TemplateError } from '#lib/templates/chat-template.ts'
import { HttpProblem } from '../http/problem.ts'
import { createLimitedThread, type LimitedThread, ThreadError } from '../limited-thread.ts'
import { BUILT_IN } from '../servers/servers.ts'
import type { LabAnswered, LabAnswers, LabQuestion } from './lab-answers.ts'
import type { LabWorkerStart } from './lab-worker.ts'

export interface LabThread {
  /** Throws Problem, TemplateError, ThreadError where it takes too long, or the signal's reason. */
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
  /** For all renders and encodings of one question together. */
  readonly longestMs: number
}

/** Long enough for the pauses of a run, whose tokenizer stays loaded. */
const IDLE_MS = 120_000

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

/** `thread`: what answers as a worker does. */
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

/** For a route of the lab: what takes too long is refused, with what to do. */
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
