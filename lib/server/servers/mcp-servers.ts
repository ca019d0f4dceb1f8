/** The MCP servers whose tools runs may use: those of the operator's file, and those that were saved with their URL. */
import { createHash } from 'node:crypto'
import * as z from 'zod/mini'
import type { McpServerEntry, McpToolName, OfferedTool } from '#lib/api/mcp-server.ts'
import { serverNameSchema } from '#lib/api/server-name.ts'
import { type OwnAddress, refusedMcpUrl } from '#lib/engine/http/address.ts'
import type { McpDependencies } from '#lib/mcp/connection.ts'
import { McpError } from '#lib/mcp/mcp-error.ts'
import type { McpPlace, NamedPlace } from '#lib/mcp/place.ts'
import { createMcpServer, type McpServer } from '#lib/mcp/server.ts'
import { type AgentTool, ToolFailure } from '#lib/rollout/tools/tool.ts'
import type { McpServerStore, SavedMcpServer } from '#lib/store/files/servers.ts'
import { toolNameSchema } from '#lib/tools/mock-tool.ts'
import { checkToolSchema } from '#lib/tools/tool-schema.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import { violationText } from '#lib/util/schema-violation.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { HttpProblem } from '../http/problem.ts'

/** Schema of an MCP server to save. */
export const mcpServerInputSchema = z.strictObject({
  name: withDescription(serverNameSchema, 'Unique name, by which tools of the server are chosen.'),
  url: withDescription(
    z.string().check(z.maxLength(2000)),
    'URL of its streamable HTTP transport, such as http://127.0.0.1:8000/mcp.',
  ),
  apiKey: withDescription(
    z.exactOptional(
      z.string().check(z.regex(/^[\x21-\x7e]{1,2000}$/, 'a key of at most 2,000 visible ASCII characters')),
    ),
    'Write-only; sent as a bearer token. Omitted: none.',
  ),
})
type McpServerInput = z.infer<typeof mcpServerInputSchema>

/** Access to the MCP servers. */
export interface McpServers {
  list(): readonly McpServerEntry[]
  create(input: McpServerInput): McpServerEntry
  remove(name: string): void
  /** Lists the tools that a server offers now, with the reason if a run cannot use one. */
  tools(name: string, signal: AbortSignal): Promise<readonly OfferedTool[]>
  /** Returns a tool's specification as a trajectory records it. */
  spec(askServer: McpToolName, signal: AbortSignal): Promise<ToolSpec>
  /** Returns the tool that a trajectory records, ready to be called. Undefined if it is no tool of an MCP server. */
  runnable(spec: ToolSpec): AgentTool | undefined
  close(): Promise<void>
}

/** Returns the servers of the operator's file and of the store. All methods throw HttpProblem. */
export function createMcpServers(
  configured: readonly NamedPlace[],
  store: McpServerStore,
  dependencies: McpDependencies & { readonly own: OwnAddress },
): McpServers {
  const open = new Map<string, McpServer>()
  const all = (): readonly (NamedPlace & { readonly source: McpServerEntry['source'] })[] => [
    ...configured.map((server) => ({ ...server, source: 'configuration' as const })),
    ...store.list().map((server) => ({ name: server.name, place: placeOf(server), source: 'saved' as const })),
  ]
  const find = (name: string) => {
    const found = all().find((server) => server.name === name)
    if (!found)
      throw new HttpProblem({
        status: 404,
        code: 'NO_MCP_SERVER',
        detail: `there is no MCP server named ${JSON.stringify(name)}`,
        hint: 'Add it by its URL, or name it in the file of ROLLSCOPE_MCP.',
      })
    return found
  }
  const server = (name: string): McpServer => {
    const { place } = find(name)
    const key = keyOf(place)
    const mcpServer = open.get(key) ?? createMcpServer(place, dependencies)
    open.set(key, mcpServer)
    return mcpServer
  }
  const tools: McpServers['tools'] = async (name, signal) => {
    const offered = await askServer(name, () => server(name).tools(signal))
    const names = new Set(offered.map(({ name: tool }) => tool))
    const seen = new Set<string>()
    return offered.map(({ name: tool, description, inputSchema }) => {
      const called = modelToolName(tool, names)
      const isTaken = seen.has(called)
      const obstacle =
        obstacleTo(called, inputSchema) ?? (isTaken ? 'the server offers another tool with that name' : undefined)
      seen.add(called)
      const facts = {
        name: called,
        ...(called !== tool && { tool }),
        ...(description !== undefined && { description }),
      }
      // An invalid schema is not returned, because it can be too deep for JSON.stringify.
      return obstacle === undefined
        ? {
            ...facts,
            inputSchema: inputSchema as ToolSpec['inputSchema'],
            fingerprint: fingerprintOf(facts, inputSchema),
          }
        : { ...facts, inputSchema: {}, obstacle }
    })
  }
  return {
    list: () => all().map(entryOf),
    create({ name, url, apiKey }) {
      if (all().some((other) => other.name === name))
        throw new HttpProblem({
          status: 409,
          code: 'NAME_TAKEN',
          detail: `an MCP server named ${JSON.stringify(name)} already exists`,
          field: 'name',
        })
      const why = refusedMcpUrl(url, dependencies.own)
      if (why !== undefined)
        throw new HttpProblem({
          status: 400,
          code: 'ADDRESS_REFUSED',
          detail: `this is not a valid address of an MCP server: ${why}`,
          field: 'url',
        })
      const saved: SavedMcpServer = { name, url, ...(apiKey !== undefined && { apiKey }) }
      store.save([...store.list(), saved])
      return entryOf({ name, place: placeOf(saved), source: 'saved' })
    },
    remove(name) {
      const { source, place } = find(name)
      if (source === 'configuration')
        throw new HttpProblem({
          status: 409,
          code: 'FIXED_SERVER',
          detail: `the MCP server ${name} is not a saved server`,
          hint: 'It is listed in the file that ROLLSCOPE_MCP names.',
        })
      store.save(store.list().filter((other) => other.name !== name))
      const key = keyOf(place)
      // The connection stays open if another name refers to the same place.
      if (all().some((other) => keyOf(other.place) === key)) return
      void open.get(key)?.close()
      open.delete(key)
    },
    tools,
    async spec({ mcp, name, fingerprint: confirmed }, signal) {
      const found = (await tools(mcp, signal)).find((tool) => tool.name === name || tool.tool === name)
      const why = found ? found.obstacle : 'it offers no tool with that name'
      if (!found || why !== undefined)
        throw new HttpProblem({
          status: 422,
          code: 'NO_TOOL',
          detail: `the tool ${JSON.stringify(name)} of the MCP server ${mcp} is not available: ${why}`,
        })
      const { obstacle: _, fingerprint, tool, ...spec } = found
      if (confirmed !== undefined && confirmed !== fingerprint)
        throw new HttpProblem({
          status: 422,
          code: 'TOOL_CHANGED',
          detail: `the MCP server ${mcp} has changed the description or the schema of its tool ${JSON.stringify(name)} since it was chosen`,
          hint: 'Read and confirm the new description in Setup → Tools → MCP …. Scripts must send the new fingerprint.',
        })
      return { ...spec, mcp: { server: mcp, ...(tool !== undefined && { tool }) } }
    },
    runnable(spec) {
      const { mcp: from } = spec
      if (!from) return undefined
      find(from.server)
      return {
        spec,
        async run(input, { signal }) {
          // The server is looked up for each call: one that was removed during the run must not be called with a key that was deleted.
          if (!all().some(({ name }) => name === from.server))
            throw new Error(`the MCP server ${from.server} was removed`)
          const called = server(from.server)
          const { text, isError } = await called.call(from.tool ?? spec.name, input, signal).catch((error: unknown) => {
            throw error instanceof McpError
              ? new Error(`the MCP server ${from.server} gave no result: ${error.message}`)
              : error
          })
          if (isError) throw new ToolFailure(text)
          return text
        },
      }
    },
    async close() {
      await Promise.all([...open.values()].map((one) => one.close()))
    },
  }
}

/** Returns a key for a place: the same place has one connection under all its names. */
const keyOf = (place: McpPlace): string => JSON.stringify(place)

const placeOf = ({ url, apiKey }: SavedMcpServer): McpPlace => ({
  kind: 'http',
  url,
  headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
})

const entryOf = ({ name, place, source }: NamedPlace & Pick<McpServerEntry, 'source'>): McpServerEntry => ({
  name,
  source,
  place:
    place.kind === 'http' ? { kind: 'http', url: withoutQuery(place.url) } : { kind: 'stdio', command: place.command },
  hasKey: Object.keys(place.kind === 'http' ? place.headers : place.env).length > 0,
})

/** Returns a URL without its query, which may contain a key. */
const withoutQuery = (url: string): string => url.replace(/\?.*$/s, '?…')

/** Returns a hash of everything that the model reads of a tool besides its name. */
const fingerprintOf = ({ description }: { readonly description?: string }, inputSchema: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify([description, inputSchema]))
    .digest('hex')

/** Names of tools that the specification of MCP allows. */
const MCP_NAME = /^[a-zA-Z0-9_./-]{1,128}$/
const MOST_CHARACTERS = 64

/**
 * Returns the name by which a model calls a tool: that of the server, or one that call formats and the SDK take, without dots and slashes
 * and with at most 64 characters. `names` are all names of the server. Names beyond the specification of MCP stay, and are obstacles.
 */
function modelToolName(tool: string, names: ReadonlySet<string>): string {
  if (toolNameSchema.safeParse(tool).success || !MCP_NAME.test(tool)) return tool
  const name = tool.replaceAll(/[./]/g, '_')
  if (name.length <= MOST_CHARACTERS && !names.has(name)) return name
  // Long names often differ only at their ends.
  const ending = createHash('sha256').update(tool).digest('hex').slice(0, 8)
  return `${name.slice(0, MOST_CHARACTERS - ending.length - 1)}_${ending}`
}

/** Returns why no run can use a tool; undefined if runs can. */
function obstacleTo(name: string, inputSchema: unknown): string | undefined {
  const named = toolNameSchema.safeParse(name)
  if (!named.success) return `its name is not ${named.error.issues[0]?.message}`
  const checked = checkToolSchema(inputSchema)
  return checked.ok ? undefined : `its input schema: ${violationText(checked.violation)}`
}

async function askServer<T>(name: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof McpError)) throw error
    throw new HttpProblem(
      {
        status: 502,
        code: 'MCP_FAILED',
        detail: `the MCP server ${name} does not answer like an MCP server: ${error.message}`,
        hint: 'Check that the server runs, and check its address or command and its key.',
      },
      { cause: error },
    )
  }
}
