/** Connects to one MCP server on first use, reconnects when the connection is lost, and releases it when idle. */
import type { McpConnection, McpDependencies, McpTool } from './connection.ts'
import type { McpPlace } from './place.ts'
import type { McpResult } from './result.ts'

/** A connection to an MCP server. */
export interface McpServer {
  /** Returns all tools in the server's order. Throws McpError. */
  tools(signal: AbortSignal): Promise<readonly McpTool[]>
  /** Calls a tool. Throws McpError if there is no result; a result may report an error. */
  call(name: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpResult>
  close(): Promise<void>
}

interface SharedConnection extends McpConnection {
  /** Number of running actions that use the connection. */
  users: number
}

const IDLE_MS = 5 * 60_000

/** Returns a connection that opens on its first use, reconnects when lost, and closes when idle. */
export function createMcpServer(place: McpPlace, dependencies: McpDependencies): McpServer {
  let connection: Promise<SharedConnection> | undefined
  let busy = 0
  let idle: ReturnType<typeof setTimeout> | undefined

  const forget = (lost: Promise<SharedConnection>): void => {
    if (connection === lost) connection = undefined
  }
  const close = async (): Promise<void> => {
    clearTimeout(idle)
    const open = connection
    connection = undefined
    await open?.then((opened) => opened.close()).catch(() => {})
  }
  const connected = (): Promise<SharedConnection> => {
    if (connection) return connection
    const connecting: Promise<SharedConnection> = import('./connection.ts')
      .then(({ connect }) => connect(place, dependencies, () => forget(connecting)))
      .then((opened) => ({ ...opened, users: 0 }))
    connection = connecting
    connecting.catch(() => forget(connecting))
    return connecting
  }
  const use = async <T>(
    signal: AbortSignal,
    action: (connection: McpConnection) => Promise<T>,
    canRepeat: (open: McpConnection, error: unknown) => boolean,
  ): Promise<T> => {
    clearTimeout(idle)
    busy++
    try {
      for (let isAgain = false; ; isAgain = true) {
        const opened = connected()
        const open = await abandonable(opened, signal)
        open.users++
        try {
          return await action(open)
        } catch (error) {
          if (isAgain || !canRepeat(open, error)) throw open.failure(error)
          forget(opened)
        } finally {
          open.users--
          // Requests that others wait for finish on the old connection.
          if (open.users === 0 && connection !== opened) open.close().catch(() => {})
        }
      }
    } finally {
      busy--
      if (busy === 0) idle = setTimeout(close, IDLE_MS).unref()
    }
  }

  return {
    // A list can be requested again after a program turned out to have ended. A call is sent again only if it was refused.
    tools: (signal) =>
      use(
        signal,
        (open) => open.tools(signal),
        (open, error) => open.isSessionLost(error) || open.isClosed(error),
      ),
    call: (name, input, signal) =>
      use(
        signal,
        (open) => open.call(name, input, signal),
        (open, error) => open.isSessionLost(error),
      ),
    close,
  }
}

/** Returns a promise that rejects when the signal aborts; the given promise continues without a listener. */
function abandonable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason)
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', stop))
}
