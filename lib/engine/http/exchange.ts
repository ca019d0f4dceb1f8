/**
 * Sends one request over undici's lowest layer and passes on the parts of the body as they arrive, without a stream, a
 * signal and promises for each. It reads nothing from the socket that nobody requested, so a slow reader pauses the
 * sender.
 */
import type { Dispatcher } from 'undici'
import { EngineError } from './errors.ts'

/** A request with its answer. */
export interface Exchange {
  /** Status and headers. Rejects with the error given to `fail`, or with undici’s error, like every wait for parts. */
  readonly head: Promise<Head>
  /** Sets how long to wait for the body and how long it may be. Before this call no timeout runs. */
  body(limits: BodyLimits): Body
  /** Closes the connection, unless the answer has ended. */
  fail(error: unknown): void
}

interface Head {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}

interface BodyLimits {
  readonly firstByteMs: number
  readonly idleMs: number
  readonly bytes: number
  /** The largest size of a body that is read in one wait. */
  readonly wholeBytes: number
}

/** Returns the error of a body with more than this many bytes. */
export const tooLarge = (bytes: number): EngineError =>
  new EngineError('TOO_LARGE', `the response is larger than ${bytes} bytes`)

interface Body {
  /** Returns the next part; undefined at the end. */
  next(): Promise<Uint8Array | undefined>
  /** Returns all remaining parts, in one wait. */
  rest(): Promise<readonly Uint8Array[]>
}

type End = { readonly kind: 'whole' } | { readonly kind: 'failed'; readonly error: unknown }

/** The number of unread bytes from which the sender is paused. */
const MOST_UNREAD = 256 * 1024

/** Sends a request. `over` is called once, when the answer has ended or failed. */
export function exchange(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions, over: () => void): Exchange {
  const head = Promise.withResolvers<Head>()
  let controller: Dispatcher.DispatchController | undefined
  let end: End | undefined
  let limits: BodyLimits | undefined
  let parts: Uint8Array[] = []
  let received = 0
  let unread = 0
  let isForAll = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let wake = () => {}

  const finish = (how: End): void => {
    if (end) return
    end = how
    clearTimeout(timer)
    over()
    if (how.kind === 'failed') head.reject(how.error)
    wake()
  }
  const fail = (error: unknown): void => {
    if (end) return
    finish({ kind: 'failed', error })
    controller?.abort(asError(error))
  }
  const expectMore = ({ firstByteMs, idleMs }: BodyLimits): void => {
    clearTimeout(timer)
    timer = setTimeout(
      () => fail(new EngineError('BODY_TIMEOUT', 'the response stopped arriving')),
      received === 0 ? firstByteMs : idleMs,
    )
  }
  const nextArrival = async (own: BodyLimits): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>()
    wake = resolve
    expectMore(own)
    await promise
    clearTimeout(timer)
  }
  const failure = (): unknown => (end?.kind === 'failed' ? end.error : undefined)

  dispatcher.dispatch(request, {
    onRequestStart(started) {
      controller = started
      if (end?.kind === 'failed') started.abort(asError(end.error))
    },
    onResponseStart(_, status, headers) {
      // Informational statuses (1xx) come before the answer.
      if (status >= 200) head.resolve({ status, headers })
    },
    onResponseData(started, part) {
      if (end) return
      received += part.byteLength
      const most = isForAll ? limits?.wholeBytes : limits?.bytes
      if (most !== undefined && received > most) {
        fail(tooLarge(most))
        return
      }
      parts.push(part)
      unread += part.byteLength
      if (isForAll && limits) expectMore(limits)
      else {
        if (unread > MOST_UNREAD) started.pause()
        wake()
      }
    },
    onResponseEnd: () => finish({ kind: 'whole' }),
    onResponseError: (_, error) => finish({ kind: 'failed', error }),
  })

  const body = (own: BodyLimits): Body => {
    limits = own
    return {
      async next() {
        while (parts.length === 0 && !end) await nextArrival(own)
        const part = parts.shift()
        if (part === undefined && end?.kind === 'failed') throw failure()
        unread -= part?.byteLength ?? 0
        if (unread <= MOST_UNREAD) controller?.resume()
        return part
      },
      async rest() {
        isForAll = true
        if (received > own.wholeBytes) fail(tooLarge(own.wholeBytes))
        controller?.resume()
        while (!end) await nextArrival(own)
        if (end.kind === 'failed') throw failure()
        const all = parts
        parts = []
        return all
      },
    }
  }
  return { head: head.promise, body, fail }
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
