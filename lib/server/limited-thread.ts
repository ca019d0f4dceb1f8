/**
 * Runs a worker thread that answers one request after another: it starts with the first request and ends after a while without one. The
 * worker file calls `answerRequests`.
 */
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { StoreError, type StoreErrorCode } from '#lib/store/store-error.ts'

/** A worker thread as its callers see it. */
export interface RequestThread<Question, Answer> {
  /** Rejects with the thread's error (a StoreError stays one), or with ThreadError if the thread ended before it answered. */
  ask(question: Question): Promise<Answer>
  /** Ends the thread at once and rejects all open requests; a later request starts a new thread. */
  end(): Promise<void>
}

/** Thrown if the thread ended before it answered, or took too long. */
export class ThreadError extends Error {
  override readonly name = 'ThreadError'
}

interface Options {
  readonly name: string
  readonly workerFile: string
  /** Data that the worker receives when it starts. */
  readonly start: object
  /** Milliseconds without a request after which the thread ends, because it occupies memory with tokenizers. */
  readonly idleMs: number
  /** Largest heap in MiB; beyond it the thread ends with the error ERR_WORKER_OUT_OF_MEMORY. Default: the limit of the process. */
  readonly heapMb?: number
}

type FromThread<Answer> =
  | { readonly id: number; readonly answer: Answer }
  | { readonly id: number; readonly failure: Failure }

/** The part of an error that is sent to another thread. */
interface Failure {
  /** Message and stack of the error in its own thread. */
  readonly text: string
  readonly store?: { readonly code: StoreErrorCode; readonly message: string; readonly hint: string }
}

/** Returns a thread that starts on its first request; requests run concurrently. */
export function createRequestThread<Question, Answer>({
  name,
  workerFile,
  start,
  idleMs,
  heapMb,
}: Options): RequestThread<Question, Answer> {
  let thread: ReturnType<typeof started<Question, Answer>> | undefined
  let idle: ReturnType<typeof setTimeout> | undefined
  let asking = 0
  const end = async () => {
    clearTimeout(idle)
    await thread?.end()
  }
  return {
    async ask(question) {
      clearTimeout(idle)
      asking++
      thread ??= started<Question, Answer>({ name, workerFile, start, heapMb }, () => {
        thread = undefined
      })
      try {
        return await thread.ask(question)
      } finally {
        clearTimeout(idle)
        if (--asking === 0) idle = setTimeout(end, idleMs).unref()
      }
    },
    end,
  }
}

function started<Question, Answer>(
  {
    name,
    workerFile,
    start,
    heapMb,
  }: Pick<Options, 'name' | 'workerFile' | 'start'> & { readonly heapMb: number | undefined },
  onGone: () => void,
) {
  // Flags of the server's process, such as those of a debugger or a test runner, are not passed to the worker.
  const worker = new Worker(workerFile, {
    workerData: start,
    execArgv: [],
    name,
    ...(heapMb !== undefined && { resourceLimits: { maxOldGenerationSizeMb: heapMb } }),
  })
  worker.unref()
  const waiting = new Map<number, PromiseWithResolvers<Answer>>()
  let last = 0
  const gone = (error: Error): void => {
    onGone()
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  worker.on('message', (message: FromThread<Answer>) => {
    const asked = waiting.get(message.id)
    waiting.delete(message.id)
    if ('answer' in message) asked?.resolve(message.answer)
    else asked?.reject(errorOf(message.failure))
  })
  worker.on('error', gone)
  worker.on('exit', () => gone(new ThreadError(`the thread ${name} has ended`)))
  return {
    ask(question: Question): Promise<Answer> {
      const id = ++last
      const answer = Promise.withResolvers<Answer>()
      waiting.set(id, answer)
      worker.postMessage({ id, question })
      return answer.promise
    },
    end: async () => {
      await worker.terminate()
    },
  }
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
export function answerRequests<Start, Question, Answer>(
  make: (start: Start) => (question: Question) => Promise<Answer>,
): void {
  if (!parentPort) throw new Error('this file is run as a worker thread')
  const port = parentPort
  const answer = make(workerData as Start)
  port.on('message', async ({ id, question }: { readonly id: number; readonly question: Question }) => {
    try {
      port.postMessage({ id, answer: await answer(question) } satisfies FromThread<Answer>)
    } catch (error) {
      port.postMessage({ id, failure: failureOf(error) } satisfies FromThread<Answer>)
    }
  })
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return { text: String(error) }
  const text = error.stack ?? error.message
  if (!(error instanceof StoreError)) return { text }
  const { code, message, hint, cause } = error
  return { text: cause instanceof Error ? `${text}\nCaused by ${cause.stack}` : text, store: { code, message, hint } }
}

function errorOf({ text, store }: Failure): Error {
  const error = new Error(text)
  return store ? new StoreError(store.code, store.message, store.hint, { cause: error }) : error
}
