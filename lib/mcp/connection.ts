/** One connection to an MCP server. Only a first use of a server imports this module, because the SDK takes long to load. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport, StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { STDIO_DEFAULT_MAX_BUFFER_SIZE } from '@modelcontextprotocol/sdk/shared/stdio.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { ErrorCode, McpError as ProtocolError } from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'
import { McpError } from './mcp-error.ts'
import type { McpPlace } from './place.ts'
import { type McpResult, mcpResultOf, type RawToolResult } from './result.ts'

/** An open connection to an MCP server. Its methods throw the errors of the SDK, which `failure` explains. */
export interface McpConnection {
  tools(signal: AbortSignal): Promise<readonly McpTool[]>
  call(name: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpResult>
  /** Returns whether the server does not know the session, so that it has refused the action. */
  isSessionLost(error: unknown): boolean
  /** Returns whether the connection ended before the answer: the server may have executed the action. */
  isClosed(error: unknown): boolean
  /** Returns the error that the caller of an action gets. */
  failure(error: unknown): McpError
  close(): Promise<void>
}

/** A tool as a server lists it. */
export interface McpTool {
  readonly name: string
  readonly description: string | undefined
  /** Intended as the JSON Schema of an object, but not validated. */
  readonly inputSchema: unknown
}

/** What a connection needs from the application. */
export interface McpDependencies {
  /** A fetch that allows only permitted addresses. */
  readonly fetch: typeof globalThis.fetch
  /** Version of the application, sent to the server. */
  readonly version: string
}

const CONNECT_MS = 20_000
/** Largest message of a program that the SDK reads, and largest result over any transport. */
const LARGEST_MESSAGE = `${STDIO_DEFAULT_MAX_BUFFER_SIZE / 2 ** 20} MiB`
/** The SDK's own timeout is switched off: the caller limits the duration of a call with its signal. */
const NO_LIMIT_MS = 2 ** 31 - 1
/** Largest number of tools of one server; more would fill any context. */
const MOST_TOOLS = 1000
/** Largest number of messages after the last action. A program that sends more would keep this process busy until it is closed as idle. */
const MOST_UNREQUESTED = 1000
/** Largest number of pages of one list; some servers never end theirs. */
const MOST_PAGES = 100

/** Connects to a server. `onLost` is called when the connection ends. Throws McpError. */
export async function connect(
  place: McpPlace,
  { fetch, version }: McpDependencies,
  onLost: () => void,
): Promise<McpConnection> {
  const client = new Client({ name: 'rollscope', version })
  const { transport, lastOutput } = transportTo(place, fetch)
  let wasTooLarge = false
  const explain = (error: unknown) => failure(error, lastOutput(), wasTooLarge)
  client.onclose = onLost
  let actions = 1
  let unrequested = 0
  const countMessage = (): void => {
    if (actions === 0 && unrequested++ === MOST_UNREQUESTED) client.close().catch(() => {})
  }
  transport.onmessage = countMessage
  const during = async <T>(action: () => Promise<T>): Promise<T> => {
    actions++
    unrequested = 0
    try {
      return await action()
    } finally {
      actions--
    }
  }
  client.onerror = ({ message }) => {
    // What is no message is an error each time.
    countMessage()
    // The SDK has no class for this error, and closes the connection after it. A larger buffer would be copied for each chunk.
    wasTooLarge ||= message.startsWith('ReadBuffer exceeded')
  }
  try {
    await client.connect(transport, { timeout: CONNECT_MS })
  } catch (error) {
    await client.close().catch(() => {})
    throw explain(error)
  }
  actions--
  return {
    tools: (signal) => during(() => allTools(client, signal)),
    async call(name, input, signal) {
      const params = { name, arguments: { ...input } }
      const options = { signal, timeout: NO_LIMIT_MS }
      const answer = await during(() => client.request({ method: 'tools/call', params }, resultSchema, options))
      const result = mcpResultOf(answer)
      // No model reads as much, but recording and rendering it would block other requests for seconds.
      if (result.text.length > STDIO_DEFAULT_MAX_BUFFER_SIZE)
        throw new McpError(`the result has more than ${LARGEST_MESSAGE} of text`)
      return result
    },
    isSessionLost: (error) => isSessionLost(error, client),
    isClosed,
    failure: explain,
    close: () => client.close(),
  }
}

/** Returns the transport, and a function that returns the last lines that a program wrote to its standard error. */
function transportTo(
  place: McpPlace,
  fetch: McpDependencies['fetch'],
): { readonly transport: Transport; readonly lastOutput: () => string } {
  if (place.kind === 'http') {
    const { url, headers } = place
    const http = new StreamableHTTPClientTransport(new URL(url), { fetch, requestInit: { headers } })
    return { transport: http as Transport, lastOutput: () => '' }
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
  return { transport, lastOutput: () => last.trim() }
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
const resultSchema = z.looseObject({}) satisfies z.ZodType<RawToolResult>

function failure(error: unknown, output: string, wasTooLarge: boolean): McpError {
  if (error instanceof McpError) return error
  const message = isClosed(error)
    ? wasTooLarge
      ? `the program sent a message of more than ${LARGEST_MESSAGE}, and its connection was closed`
      : 'the connection was closed before the server answered'
    : error instanceof Error
      ? causeOf(error)
      : String(error)
  return new McpError(output === '' ? message : `${message}; it printed: ${output}`, { cause: error })
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
