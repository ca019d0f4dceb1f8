/**
 * One request and its answer over undici's lowest layer: the parts of the body as they came, without a stream, a signal and
 * promises for each. Nothing is read from the socket that nobody wants: a reader who is slow holds up the sender.
 */
import type { Dispatcher } from 'undici'
import { SglangError } from './errors.ts'

export interface Exchange {
  /** Rejects as `fail` was told, or with undici’s error; so do all that wait for parts. */
  readonly head: Promise<Head>
  /** How long may be waited for the body, and how long it may be; before it is called nothing is waited for. */
  body(limits: BodyLimits): Body
  /** Closes the connection, unless the answer is over. */
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
  /** Once all that is left is read in one wait. */
  readonly wholeBytes: number
}

export const tooLarge = (bytes: number): SglangError =>
  new SglangError('TOO_LARGE', `the reply is larger than ${bytes} bytes`)

interface Body {
  /** The next part; undefined at the end. */
  next(): Promise<Uint8Array | undefined>
  /** All that is left, in one wait. */
  rest(): Promise<readonly Uint8Array[]>
}

type End = { readonly kind: 'whole' } | { readonly kind: 'failed'; readonly error: unknown }

/** Unread bytes from which on the sender is held up. */
const MOST_UNREAD = 256 * 1024

/** `over`: called once, when the answer has ended or failed. */
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
      () => fail(new SglangError('BODY_TIMEOUT', 'the reply stopped arriving')),
      received === 0 ? firstByteMs : idleMs,
    )
  }
  const news = async (own: BodyLimits): Promise<void> => {
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
      // What is below is said before the answer.
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
        while (parts.length === 0 && !end) await news(own)
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
        while (!end) await news(own)
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
