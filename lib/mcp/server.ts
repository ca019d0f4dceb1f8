/** Connects to one MCP server on first use, reconnects when the connection is lost, and releases it when idle. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ErrorCode, McpError as ProtocolError } from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'
import type { McpPlace } from './place.ts'
import { type AnsweredResult, type McpResult, mcpResultOf } from './result.ts'

/** A connection to an MCP server. */
export interface McpServer {
  /** Returns all tools in the server's order. Throws McpError. */
  tools(signal: AbortSignal): Promise<readonly McpTool[]>
  /** Calls a tool. Throws McpError if there is no result; a result may report an error. */
  call(name: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpResult>
  close(): Promise<void>
}

interface McpTool {
  readonly name: string
  readonly description: string | undefined
  /** Intended as the JSON Schema of an object, but not validated. */
  readonly inputSchema: unknown
}

/** Thrown when an MCP server could not be used; the message gives the reason. */
export class McpError extends Error {
  override readonly name = 'McpError'
}

/** What a connection needs from the application. */
export interface McpDependencies {
  /** A fetch that allows only permitted addresses. */
  readonly fetch: typeof globalThis.fetch
  /** Version of the application, sent to the server. */
  readonly version: string
}

interface Connection {
  readonly client: Client
  /** Returns the last lines that a program wrote to its standard error. */
  readonly said: () => string
  /** Number of running actions that use the connection. */
  users: number
}

const CONNECT_MS = 20_000
const IDLE_MS = 5 * 60_000
/** The SDK's own timeout is switched off: the caller limits the duration of a call with its signal. */
const NO_LIMIT_MS = 2 ** 31 - 1
/** Largest number of tools of one server; more would fill any context. */
const MOST_TOOLS = 1000
/** Largest number of pages of one list; some servers never end theirs. */
const MOST_PAGES = 100

/** Returns a connection that opens on its first use, reconnects when lost, and closes when idle. */
export function createMcpServer(place: McpPlace, dependencies: McpDependencies): McpServer {
  let connection: Promise<Connection> | undefined
  let busy = 0
  let idle: ReturnType<typeof setTimeout> | undefined

  const forget = (lost: Promise<Connection>): void => {
    if (connection === lost) connection = undefined
  }
  const close = async (): Promise<void> => {
    clearTimeout(idle)
    const open = connection
    connection = undefined
    await open?.then(({ client }) => client.close()).catch(() => {})
  }
  const connected = (): Promise<Connection> => {
    if (connection) return connection
    const made: Promise<Connection> = connect(place, dependencies, () => forget(made))
    connection = made
    made.catch(() => forget(made))
    return made
  }
  const use = async <T>(signal: AbortSignal, action: (client: Client) => Promise<T>): Promise<T> => {
    clearTimeout(idle)
    busy++
    try {
      for (let isAgain = false; ; isAgain = true) {
        const opened = connected()
        const open = await abandonable(opened, signal)
        open.users++
        try {
          return await action(open.client)
        } catch (error) {
          if (isAgain || !isSessionLost(error, open.client)) throw failure(error, open.said())
          forget(opened)
        } finally {
          open.users--
          // Requests that others wait for finish on the old connection.
          if (open.users === 0 && connection !== opened) open.client.close().catch(() => {})
        }
      }
    } finally {
      busy--
      if (busy === 0) idle = setTimeout(close, IDLE_MS).unref()
    }
  }

  return {
    tools: (signal) => use(signal, (client) => allTools(client, signal)),
    call: (name, input, signal) =>
      use(signal, async (client) =>
        mcpResultOf(
          await client.request({ method: 'tools/call', params: { name, arguments: { ...input } } }, resultSchema, {
            signal,
            timeout: NO_LIMIT_MS,
          }),
        ),
      ),
    close,
  }
}

async function connect(place: McpPlace, { fetch, version }: McpDependencies, onLost: () => void): Promise<Connection> {
  const client = new Client({ name: 'rollscope', version })
  const { transport, said } = transportTo(place, fetch)
  client.onclose = onLost
  try {
    await client.connect(transport, { timeout: CONNECT_MS })
  } catch (error) {
    await client.close().catch(() => {})
    throw failure(error, said())
  }
  return { client, said, users: 0 }
}

function transportTo(
  place: McpPlace,
  fetch: McpDependencies['fetch'],
): { readonly transport: Transport; readonly said: () => string } {
  if (place.kind === 'http') {
    const { url, headers } = place
    const http = new StreamableHTTPClientTransport(new URL(url), { fetch, requestInit: { headers } })
    return { transport: http as Transport, said: () => '' }
  }
  const { command, args, env, cwd } = place
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    // The SDK adds only the variables that every program needs, so our keys are not passed on.
    env: { ...env },
    stderr: 'pipe',
    ...(cwd !== undefined && { cwd }),
  })
  let last = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    last = (last + chunk.toString()).slice(-2000)
  })
  return { transport, said: () => last.trim() }
}

async function allTools(client: Client, signal: AbortSignal): Promise<readonly McpTool[]> {
  const found: McpTool[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < MOST_PAGES; pages++) {
    const params = cursor === undefined ? {} : { cursor }
    const page = await client.request({ method: 'tools/list', params }, pageSchema, { signal, timeout: CONNECT_MS })
    for (const tool of page.tools) found.push(toolSchema.parse(tool))
    if (found.length > MOST_TOOLS) throw new McpError(`the server offers more than ${MOST_TOOLS} tools`)
    if (page.nextCursor === undefined) return found
    cursor = page.nextCursor
  }
  throw new McpError(`the server’s list of tools has more than ${MOST_PAGES} pages`)
}

/**
 * A tool of a server. The schema is lenient: the SDK's own drops all tools for one invalid one and compiles the schemas that a server names
 * for its results.
 */
const toolSchema = z
  .looseObject({
    name: z.string().catch('(no name)'),
    description: z.string().optional().catch(undefined),
    inputSchema: z.unknown().optional(),
  })
  .catch({ name: '(no name)', description: undefined, inputSchema: undefined })
  .transform(({ name, description, inputSchema }): McpTool => ({ name, description, inputSchema }))
const pageSchema = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() })
const resultSchema = z.looseObject({}) satisfies z.ZodType<AnsweredResult>

/** Returns a promise that rejects when the signal aborts; the given promise continues without a listener. */
function abandonable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason)
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const stop = () => reject(signal.reason)
  signal.addEventListener('abort', stop, { once: true })
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', stop))
}

function failure(error: unknown, said: string): McpError {
  if (error instanceof McpError) return error
  const message = isClosed(error)
    ? 'the connection was closed before the server answered'
    : error instanceof Error
      ? causeOf(error)
      : String(error)
  return new McpError(said === '' ? message : `${message}; it printed: ${said}`, { cause: error })
}

/**
 * A restarted server does not know the session: it answers 404 by the specification, and many servers answer 400. The action was refused,
 * so it can be repeated.
 */
const isSessionLost = (error: unknown, { transport }: Client): boolean =>
  error instanceof StreamableHTTPError &&
  (error.code === 404 || error.code === 400) &&
  transport?.sessionId !== undefined

const isClosed = (error: unknown): boolean =>
  error instanceof ProtocolError && error.code === ErrorCode.ConnectionClosed

/** Returns the message with its cause, because fetch hides the reason there. */
const causeOf = ({ message, cause }: Error): string =>
  cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message
