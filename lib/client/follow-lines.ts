/** A numbered stream of lines, followed to its end over connections that may break. */
import { isStreamClosed } from '#lib/core/stream-closed.ts'
import { ApiError, callApi, lines } from './api.ts'

interface Following {
  /** Of the stream; takes ?from=. */
  readonly path: string
  readonly signal: AbortSignal
  /** done: that was the last one. Throws when the line does not fit what came before. */
  readonly onLine: (line: unknown) => 'more' | 'done'
  readonly onConnected: (isConnected: boolean) => void
  /** It cannot be followed any more. undefined: there is no such stream any longer. */
  readonly onGone: (error: ApiError | undefined) => void
}

const RECONNECT_MS = 1_000

/** After a lost connection, and after the server has left it as too slow, it goes on at the line where it left. */
export async function followLines({ path, signal, onLine, onConnected, onGone }: Following): Promise<void> {
  let received = 0
  connecting: while (!signal.aborted) {
    try {
      const response = await callApi(`${path}?from=${received}`, { signal })
      if (!signal.aborted) onConnected(true)
      for await (const line of lines(response)) {
        // The browser had put the page to sleep.
        if (isStreamClosed(line)) continue connecting
        received++
        try {
          if (onLine(line) === 'done') return
        } catch (error) {
          return onGone(notUnderstood(error))
        }
      }
    } catch (error) {
      if (signal.aborted) return
      if (error instanceof ApiError && error.status === 404) return onGone(undefined)
      if (error instanceof ApiError && error.status !== 0) return onGone(error)
    }
    if (!signal.aborted) onConnected(false)
    await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
  }
}

export const notUnderstood = (error: unknown): ApiError =>
  new ApiError(
    200,
    'BAD_EVENTS',
    `what the server tells of this rollout does not fit together: ${error instanceof Error ? error.message : error}`,
    'Reload the page: the trajectory is stored, as far as it was recorded.',
  )
