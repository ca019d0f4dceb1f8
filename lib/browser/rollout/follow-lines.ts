/** A numbered stream of lines, followed to its end over connections that may break. */
import { isStreamClosed } from '#lib/api/stream-closed.ts'
import type { Reader } from '#lib/trajectory/events/event-reader.ts'
import { ApiError, callApi, checkedAnswer, lines } from '../api.ts'

interface Following<Line> {
  /** Of the stream; takes ?from=. */
  readonly path: string
  readonly signal: AbortSignal
  /** Loads the schema of its lines, which most pages do without. */
  readonly schema: () => Promise<Reader<Line>>
  /** done: that was the last one. Throws when the line does not fit what came before. */
  readonly onLine: (line: Line) => 'more' | 'done'
  readonly onConnected: (isConnected: boolean) => void
  /** It cannot be followed any more. undefined: there is no such stream any longer. */
  readonly onGone: (error: ApiError | undefined) => void
}

/** After a lost connection, and between two looks of a page that has no stream. */
const PAUSE_MS = 1_000
/**
 * Browsers open six connections to a host, for all of its pages together: where six streams stay open, no further page loads.
 * So many pages follow over a stream; further ones look again and again.
 */
const STREAMS = 4

interface Browser {
  /** Those that all pages of the browser share. Pages that are not secure have none: each follows over a stream. */
  readonly locks?: Locks | undefined
  readonly pauseMs?: number
}

/** After a lost connection, and after the server has left it as too slow, it goes on at the line where it left. */
export async function followLines<Line>(
  { path, signal, schema: loadSchema, onLine, onConnected, onGone }: Following<Line>,
  { locks = navigator.locks, pauseMs = PAUSE_MS }: Browser = {},
): Promise<void> {
  let received = 0
  /** Over one answer. Returns whether there is more to follow, and when. */
  const followOnce = async (until: 'end' | 'now'): Promise<'done' | 'at once' | 'later'> => {
    const schema = await loadSchema()
    const response = await callApi(`${path}?from=${received}${until === 'now' ? '&until=now' : ''}`, { signal })
    if (!signal.aborted) onConnected(true)
    for await (const line of lines(response, path)) {
      // The browser had put the page to sleep.
      if (isStreamClosed(line)) return 'at once'
      received++
      try {
        if (onLine(checkedAnswer(path, line, schema)) === 'done') return 'done'
      } catch (error) {
        onGone(notUnderstood(error))
        return 'done'
      }
    }
    return 'later'
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
      if (error instanceof ApiError && error.status === 404) return onGone(undefined)
      if (error instanceof ApiError && error.status !== 0) return onGone(error)
      isLook = false
    }
    if (!signal.aborted && !isLook) onConnected(false)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

/** What is used of the browser's LockManager. */
export interface Locks {
  request<T>(name: string, options: { readonly ifAvailable: true }, use: (lock: unknown) => Promise<T>): Promise<T>
}

/** With a stream that stays open where this browser has one left, which other pages cannot have meanwhile. */
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

export const notUnderstood = (error: unknown): ApiError =>
  new ApiError(
    200,
    'BAD_EVENTS',
    `what the server tells of this rollout does not fit together: ${error instanceof Error ? error.message : error}`,
    'Reload the page: the trajectory is stored, as far as it was recorded.',
  )
