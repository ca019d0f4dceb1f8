/** Follows a numbered stream of lines to its end over connections that may break. */
import { isStreamClosed } from '#lib/api/stream-closed.ts'
import type { SchemaReader } from '#lib/trajectory/events/event-reader.ts'
import { ApiError, callApi, departureOf, streamJsonLines } from '../api.ts'

interface Following<Line> {
  /** Path of the stream, which accepts ?from=. */
  readonly path: string
  readonly signal: AbortSignal
  readonly schema: SchemaReader<Line>
  /** Processes a line; 'done' means that it was the last one. Throws an Error if the line contradicts earlier ones. */
  readonly onLine: (line: Line) => 'more' | 'done'
  readonly onConnected: (isConnected: boolean) => void
  /** Called when the stream cannot be followed any more; undefined means that it no longer exists. */
  readonly onUnavailable: (error: ApiError | undefined) => void
}

/**
 * Milliseconds without a byte after which the stream is requested again. A connection may be lost without an end, such as while a laptop
 * sleeps, and a new request costs little where the model only takes long.
 */
const SILENT_MS = 20_000
/** Milliseconds to wait after a lost connection, and between two polls of a page without a stream. */
const PAUSE_MS = 1_000
/**
 * Number of pages that follow with a stream; further ones poll. Browsers open six connections to a host for all its pages together: with
 * six open streams, no further page would load.
 */
const STREAMS = 4

interface Browser {
  /** Locks that all pages of the browser share. Insecure pages have none: each of them follows with a stream. */
  readonly locks?: Locks | undefined
  readonly pauseMs?: number
  readonly silentMs?: number
}

/**
 * Follows the lines to their end. After a lost connection, or after the server has ended the stream for a slow reader, it continues with
 * the next line.
 */
export async function followLines<Line>(
  { path, signal, schema, onLine, onConnected, onUnavailable }: Following<Line>,
  { locks = navigator.locks, pauseMs = PAUSE_MS, silentMs = SILENT_MS }: Browser = {},
): Promise<void> {
  let received = 0
  /** Follows one response. Returns whether there is more to follow, and when. */
  const followOnce = async (until: 'end' | 'now'): Promise<'done' | 'at once' | 'later'> => {
    const silence = new AbortController()
    const isSilent = () => silence.abort()
    let timer = setTimeout(isSilent, silentMs)
    const listen = () => {
      clearTimeout(timer)
      timer = setTimeout(isSilent, silentMs)
    }
    try {
      const response = await callApi(`${path}?from=${received}${until === 'now' ? '&until=now' : ''}`, {
        signal: AbortSignal.any([signal, silence.signal]),
      })
      if (!signal.aborted) onConnected(true)
      for await (const line of streamJsonLines(response, path, listen)) {
        // The server ended the stream because the browser had suspended the page.
        if (isStreamClosed(line)) return 'at once'
        received++
        try {
          const parsed = schema.safeParse(line)
          if (!parsed.success) throw await departureOf(path, parsed.error, line)
          if (onLine(parsed.data) === 'done') return 'done'
        } catch (error) {
          onUnavailable(notUnderstood(error))
          return 'done'
        }
      }
      return 'later'
    } catch (error) {
      if (!silence.signal.aborted) throw error
      return 'at once'
    } finally {
      clearTimeout(timer)
    }
  }
  while (!signal.aborted) {
    let isLook = false
    try {
      const more = await withStream(locks, (until) => {
        isLook = until === 'now'
        return followOnce(until)
      })
      if (more === 'done') return
      if (more === 'at once') continue
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && error.status === 404) return onUnavailable(undefined)
      // A proxy answers by itself while the application is silent or starts again.
      if (error instanceof ApiError && error.status !== 0 && error.code !== 'UNKNOWN') return onUnavailable(error)
      isLook = false
    }
    if (!signal.aborted && !isLook) onConnected(false)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** The part of the browser's LockManager that is used. */
export interface Locks {
  request<T>(name: string, options: { readonly ifAvailable: true }, use: (lock: unknown) => Promise<T>): Promise<T>
}

/** Follows with an open stream if this browser has a free one, which other pages cannot use in the meantime; else with a poll. */
async function withStream<T>(locks: Locks | undefined, follow: (until: 'end' | 'now') => Promise<T>): Promise<T> {
  if (!locks) return follow('end')
  for (let stream = 0; stream < STREAMS; stream++) {
    const followed = await locks.request(`rollscope.stream.${stream}`, { ifAvailable: true }, async (lock) =>
      lock ? { value: await follow('end') } : undefined,
    )
    if (followed) return followed.value
  }
  return follow('now')
}

/** Returns the error of a line that contradicts earlier ones. */
export const notUnderstood = (error: unknown): ApiError =>
  new ApiError(
    200,
    'BAD_EVENTS',
    `the events of this rollout contradict each other: ${error instanceof Error ? error.message : error}`,
    'Reload the page: the trajectory is stored up to the last recorded segment.',
  )
