/** One MCP server: connected when it is first needed, again when the connection is lost, and let go when nobody asks. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ErrorCode, McpError as ProtocolError } from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'
import type { McpPlace } from './place.ts'
import { type AnsweredResult, type McpResult, resultOf } from './result.ts'

export interface McpServer {
  /** All it offers, in its order. Throws McpError. */
  tools(signal: AbortSignal): Promise<readonly McpTool[]>
  /** Throws McpError where there is no result, which is no error result. */
  call(name: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpResult>
  close(): Promise<void>
}

interface McpTool {
  readonly name: string
  readonly description: string | undefined
  /** Meant as JSON Schema of an object; it can be anything. */
  readonly inputSchema: unknown
}

export class McpError extends Error {
  override readonly name = 'McpError'
}

export interface McpDependencies {
  /** Calls only what may be called. */
  readonly fetch: typeof globalThis.fetch
  /** Of the application, told to the server. */
  readonly version: string
}

interface Connection {
  readonly client: Client
  /** The last lines that a program wrote to its standard error. */
  readonly said: () => string
  /** Actions under way. */
  users: number
}

const CONNECT_MS = 20_000
const IDLE_MS = 5 * 60_000
/** What a call may take is the caller's to say, by its signal. */
const NO_LIMIT_MS = 2 ** 31 - 1
/** Of one server; more would fill any context. */
const MOST_TOOLS = 1000
/** Of one list; some servers never come to its end. */
const MOST_PAGES = 100

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
          // What others still wait for comes over the old connection.
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
        resultOf(
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
    // The SDK adds the few variables that every program needs, and no others: not our keys.
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
    if (found.length > MOST_TOOLS) throw new McpError(`it offers more than ${MOST_TOOLS} tools`)
    if (page.nextCursor === undefined) return found
    cursor = page.nextCursor
  }
  throw new McpError(`its list of tools does not end: after ${MOST_PAGES} pages it names a further one`)
}

/**
 * Read leniently, and not by the SDK's own calls: there one odd tool costs all of them, and the schemas that a server names
 * for its results are compiled.
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

/** The promise goes on where nobody waits for it any more. */
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
    ? 'the connection closed before it answered'
    : error instanceof Error
      ? causeOf(error)
      : String(error)
  return new McpError(said === '' ? message : `${message}; it said: ${said}`, { cause: error })
}

/**
 * A server that was restarted does not know the session: 404 by the specification, and 400 of many. The action was refused,
 * so that it can be done again.
 */
const isSessionLost = (error: unknown, { transport }: Client): boolean =>
  error instanceof StreamableHTTPError &&
  (error.code === 404 || error.code === 400) &&
  transport?.sessionId !== undefined

const isClosed = (error: unknown): boolean =>
  error instanceof ProtocolError && error.code === ErrorCode.ConnectionClosed

/** fetch hides why it failed one level down. */
const causeOf = ({ message, cause }: Error): string =>
  cause instanceof Error && cause.message !== '' ? `${message}: ${cause.message}` : message
