/**
 * Runs a worker thread that answers one request after another: it starts with the first request and ends after a while without one. The
 * worker file calls `answerRequests`.
 */
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { StoreError } from '#lib/store/store-error.ts'
import { type Answer, createAnswers, createOnDemandWorker, type ToWorker } from '#lib/tasks/worker-protocol.ts'
import { TemplateError } from '#lib/templates/chat-template.ts'
import { TokenizerError } from '#lib/tokenizer/files/tokenizer-files.ts'
import { HttpProblem } from './http/problem.ts'

/** A worker thread as its callers see it. */
export interface RequestThread<Question, Answer> {
  /** Rejects with the thread's error, which keeps its class if it is in CLASSES, or with ThreadError if the thread ended before. */
  ask(question: Question): Promise<Answer>
  /** Ends the thread at once and rejects all open requests; a later request starts a new thread. */
  end(): Promise<void>
}

/** Thrown if the thread ended before it answered, or took too long. */
export class ThreadError extends Error {
  override readonly name = 'ThreadError'
}

/** Returns whether an error says that the thread ended before it answered, also because it had no memory left. */
export const hasThreadEnded = (error: unknown): error is Error =>
  error instanceof ThreadError ||
  (error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY')

/** Errors that keep their class on the way to the caller. */
const CLASSES = [HttpProblem, StoreError, TemplateError, TokenizerError] as const

interface Options {
  readonly name: string
  readonly workerFile: string
  /** Data that the worker receives when it starts. */
  readonly start: object
  /** Milliseconds without a request after which the thread ends, because it occupies memory with tokenizers. */
  readonly idleMs: number
  /** Largest heap in MiB; beyond it the thread ends with the error ERR_WORKER_OUT_OF_MEMORY. Default: the limit of the process. */
  readonly heapMb?: number
  /**
   * Largest part of the heap for new objects in MiB. Unused objects wait there for a collection, so a thread with much
   * data of short life gets a small part. Default: that of Node.
   */
  readonly newObjectsMb?: number
}

/** Returns a thread that starts on its first request; requests run concurrently. */
export function createRequestThread<Question, Answer>({
  name,
  workerFile,
  start,
  idleMs,
  heapMb,
  newObjectsMb,
}: Options): RequestThread<Question, Answer> {
  const ended = () => new ThreadError(`the thread ${name} has ended`)
  const thread = createOnDemandWorker<Question, Answer>({
    start(receive, onGone) {
      const worker = new Worker(workerFile, {
        workerData: start,
        // Flags of the server's process, such as those of a debugger or a test runner, are not passed to the worker.
        execArgv: [],
        name,
        resourceLimits: {
          ...(heapMb !== undefined && { maxOldGenerationSizeMb: heapMb }),
          ...(newObjectsMb !== undefined && { maxYoungGenerationSizeMb: newObjectsMb }),
        },
      })
      worker.unref()
      worker.on('message', receive)
      worker.on('error', onGone)
      worker.on('exit', () => onGone(ended()))
      return { post: (message, transfer) => worker.postMessage(message, transfer), end: () => worker.terminate() }
    },
    classes: CLASSES,
    idleMs,
    ended,
  })
  return { ask: thread.send, end: thread.end }
}

/** A worker thread whose requests have a time limit and end with their caller. */
export interface LimitedThread<Question, Answer> {
  /** Rejects with ThreadError if it takes too long, or with the signal's reason. */
  ask(question: Question, signal: AbortSignal): Promise<Answer>
  close(): Promise<void>
}

interface LimitedOptions<Question> extends Options {
  /** Limit of one request in milliseconds. */
  readonly longestMs: number
  /** Returns a request that is sent first and does not count in the time limit: it loads what the request needs. */
  readonly readying?: (question: Question) => Question | undefined
}

/** Returns a thread that runs one request at a time, each for a limited time. An aborted request ends the thread. */
export function createLimitedThread<Question, Answer>({
  longestMs,
  readying = () => undefined,
  ...options
}: LimitedOptions<Question>): LimitedThread<Question, Answer> {
  const thread = createRequestThread<Question, Answer>(options)
  let before: Promise<unknown> = Promise.resolve()

  const limited = async (question: Question, signal: AbortSignal): Promise<Answer> => {
    let isLate = false
    let watch: ReturnType<typeof setTimeout> | undefined
    const leave = () => void thread.end()
    signal.addEventListener('abort', leave, { once: true })
    try {
      const first = readying(question)
      if (first !== undefined) await thread.ask(first)
      watch = setTimeout(() => {
        isLate = true
        void thread.end()
      }, longestMs)
      return await thread.ask(question)
    } catch (error) {
      signal.throwIfAborted()
      throw isLate ? new ThreadError(`it took longer than ${longestMs / 1000} s`) : error
    } finally {
      clearTimeout(watch)
      signal.removeEventListener('abort', leave)
    }
  }

  return {
    ask(question, signal) {
      const answer = before.then(() => {
        // The caller may have left while the request waited.
        signal.throwIfAborted()
        return limited(question, signal)
      })
      before = answer.catch(() => {})
      return answer
    },
    close: () => thread.end(),
  }
}

/** Answers the requests of a worker file: `make` receives the start data and returns the function that answers. */
export function answerRequests<Start, Question, Result>(make: (start: Start) => Answer<Question, Result>): void {
  if (!parentPort) throw new Error('this file is run as a worker thread')
  const port = parentPort
  const receive = createAnswers(make(workerData as Start), CLASSES, (message, transfer) =>
    port.postMessage(message, transfer),
  )
  port.on('message', (message: ToWorker<Question>) => receive(message))
}
