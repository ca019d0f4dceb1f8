/**
 * The messages between a thread and its worker: typed requests with progress, one result or error each, and abort. A page's worker and a
 * thread of the server use the same messages; a transport connects the two sides.
 */

/** A message to a worker. */
export type ToWorker<Request> =
  | { readonly kind: 'request'; readonly id: number; readonly request: Request }
  | { readonly kind: 'abort'; readonly id: number }

/** A message from a worker. Every request has one result or error, an aborted one too. */
export type FromWorker =
  | { readonly kind: 'progress'; readonly id: number; readonly progress: unknown }
  | { readonly kind: 'result'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: SentError }

/** Classes of errors that reach the other side with their class and fields. Both sides use the same list. */
export type ErrorClasses = readonly (abstract new (...parameters: never) => Error)[]

/** An error in the form in which threads exchange it. */
interface SentError {
  /** Position of its class in the list; -1 for any other class, which becomes Error. */
  readonly classAt: number
  readonly message: string
  /** Stack of the error in its own thread, with the cause. */
  readonly stack: string | undefined
  readonly fields: object
}

/** What a worker can do with a request besides its answer. */
export interface AnswerContext<Progress> {
  /** Aborts with the request. */
  readonly signal: AbortSignal
  readonly report: (progress: Progress) => void
  /** Receives the buffers that are transferred with the result. */
  readonly transfer: ArrayBuffer[]
}

/** Answers a request in a worker. */
export type Answer<Request, Result, Progress = never> = (
  request: Request,
  context: AnswerContext<Progress>,
) => Result | Promise<Result>

/** Returns the worker's handler of messages. `post` sends a message with the buffers to transfer. */
export function createAnswers<Request, Progress>(
  answer: Answer<Request, unknown, Progress>,
  classes: ErrorClasses,
  post: (message: FromWorker, transfer: readonly ArrayBuffer[]) => void,
): (message: ToWorker<Request>) => Promise<void> {
  const open = new Map<number, AbortController>()
  return async (message) => {
    const { id } = message
    if (message.kind === 'abort') return open.get(id)?.abort()
    const controller = new AbortController()
    open.set(id, controller)
    const transfer: ArrayBuffer[] = []
    const report = (progress: Progress) => post({ kind: 'progress', id, progress }, [])
    try {
      const result = await answer(message.request, { signal: controller.signal, report, transfer })
      post({ kind: 'result', id, result }, transfer)
    } catch (error) {
      post({ kind: 'error', id, error: sentError(error, classes) }, [])
    } finally {
      open.delete(id)
    }
  }
}

/** A transport to a worker that runs. */
interface Transport {
  readonly post: (message: ToWorker<unknown>, transfer: readonly ArrayBuffer[]) => void
  /** Ends the worker at once. */
  readonly end: () => unknown
}

/** Starts a worker. It calls `receive` with each message, and `onGone` if the worker ends before it is ended. */
export type StartWorker = (receive: (message: FromWorker) => void, onGone: (error: Error) => void) => Transport

interface SendOptions<Progress> {
  /** Aborts the request, which rejects at once with the signal's reason. */
  readonly signal?: AbortSignal
  /** Receives the progress, also after an abort until the worker has noticed it. */
  readonly onProgress?: (progress: Progress) => void
  readonly transfer?: readonly ArrayBuffer[]
}

/** A worker that runs. */
export interface ConnectedWorker<Request, Result, Progress = never> {
  /** Rejects with the worker's error, with the error of a lost worker, or with the signal's reason. */
  send(request: Request, options?: SendOptions<Progress>): Promise<Result>
  /** Ends the worker at once; its requests reject with `reason` unless the transport reports another error. */
  end(reason: Error): Promise<void>
}

interface Open {
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
  readonly onProgress: ((progress: never) => void) | undefined
}

/** Starts a worker and returns its requests. `onGone` is called once if it ends before it is ended. */
export function connectWorker<Request, Result, Progress = never>(
  start: StartWorker,
  classes: ErrorClasses,
  onGone: (error: Error) => void,
): ConnectedWorker<Request, Result, Progress> {
  const open = new Map<number, Open>()
  let lastId = 0
  let isOver = false
  const fail = (error: Error): void => {
    for (const { reject } of open.values()) reject(error)
    open.clear()
  }
  const worker = start(
    (message) => {
      const { id } = message
      const request = open.get(id)
      if (message.kind === 'progress') return request?.onProgress?.(message.progress as never)
      open.delete(id)
      if (message.kind === 'result') request?.resolve(message.result as never)
      else request?.reject(receivedError(message.error, classes))
    },
    (error) => {
      fail(error)
      if (!isOver) onGone(error)
      isOver = true
    },
  )
  return {
    send(request, { signal, onProgress, transfer = [] } = {}) {
      if (signal?.aborted) return Promise.reject(signal.reason)
      const { promise, resolve, reject } = Promise.withResolvers<Result>()
      const id = ++lastId
      const abort = () => {
        worker.post({ kind: 'abort', id }, [])
        reject(signal?.reason)
      }
      open.set(id, { resolve, reject, onProgress })
      signal?.addEventListener('abort', abort, { once: true })
      try {
        worker.post({ kind: 'request', id, request }, transfer)
      } catch (error) {
        open.delete(id)
        reject(error)
      }
      return promise.finally(() => signal?.removeEventListener('abort', abort))
    },
    async end(reason) {
      isOver = true
      await worker.end()
      fail(reason)
    },
  }
}

/** A worker that starts with its first request, and again after it ended. */
export interface OnDemandWorker<Request, Result> {
  /** Rejects as a connected worker does. */
  send(request: Request, options?: SendOptions<never>): Promise<Result>
  /** Starts the worker for a request that will come soon. */
  prepare(): void
  /** Ends the worker at once and rejects its requests. */
  end(): Promise<void>
}

interface OnDemandOptions {
  readonly start: StartWorker
  readonly classes: ErrorClasses
  /** Milliseconds without a request after which the worker ends, because it occupies memory. */
  readonly idleMs: number
  /** Returns the error of requests whose worker is ended. */
  readonly ended: () => Error
}

/** Returns a worker that starts with its first request and ends after a while without one. */
export function createOnDemandWorker<Request, Result>({
  start,
  classes,
  idleMs,
  ended,
}: OnDemandOptions): OnDemandWorker<Request, Result> {
  let worker: ConnectedWorker<Request, Result> | undefined
  let idle: ReturnType<typeof setTimeout> | undefined
  let requests = 0
  const running = (): ConnectedWorker<Request, Result> => {
    clearTimeout(idle)
    worker ??= connectWorker(start, classes, () => {
      worker = undefined
    })
    return worker
  }
  const end = async () => {
    clearTimeout(idle)
    const ending = worker
    worker = undefined
    await ending?.end(ended())
  }
  const endLater = () => {
    clearTimeout(idle)
    if (requests > 0) return
    idle = setTimeout(end, idleMs)
    // In Node, an idle worker keeps no process alive; a browser's timer is a number.
    if (typeof idle === 'object') idle.unref()
  }
  return {
    async send(request, options) {
      options?.signal?.throwIfAborted()
      const { send } = running()
      requests++
      try {
        return await send(request, options)
      } finally {
        requests--
        endLater()
      }
    },
    prepare() {
      running()
      endLater()
    },
    end,
  }
}

function sentError(error: unknown, classes: ErrorClasses): SentError {
  if (!(error instanceof Error)) return { classAt: -1, message: String(error), stack: undefined, fields: {} }
  const { message, stack, cause } = error
  const classAt = classes.findIndex((one) => error instanceof one)
  return {
    classAt,
    message,
    stack: cause instanceof Error ? `${stack}\nCaused by ${cause.stack}` : stack,
    // Fields of other errors may be impossible to send.
    fields: classAt < 0 ? {} : { ...error },
  }
}

function receivedError({ classAt, message, stack, fields }: SentError, classes: ErrorClasses): Error {
  const error = Object.assign(new Error(message), fields, stack !== undefined && { stack })
  const found = classes[classAt]
  return found ? Object.setPrototypeOf(error, found.prototype) : error
}
