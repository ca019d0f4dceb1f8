/** The MCP servers that the application knows, and their tools. */
import { queryOptions } from '@tanstack/react-query'
import { mcpServerListSchema, offeredToolsSchema } from '#lib/api/mcp-server.ts'
import { callApi, fetchJson } from './api.ts'

const PATH = '/api/mcp-servers'
const pathOf = (name: string): string => `${PATH}/${encodeURIComponent(name)}`

/** Query for the list of MCP servers. */
export const mcpServersOptions = () =>
  queryOptions({
    queryKey: ['mcp-servers'],
    queryFn: async ({ signal }) => (await fetchJson(PATH, mcpServerListSchema, { signal })).servers,
  })

/** Query for the tools of a server; the request starts a program if the server is one. */
export const mcpToolsOptions = (name: string) =>
  queryOptions({
    queryKey: ['mcp-tools', name],
    queryFn: async ({ signal }) => (await fetchJson(`${pathOf(name)}/tools`, offeredToolsSchema, { signal })).tools,
    retry: false,
  })

/** An MCP server to save. */
export interface McpServerInput {
  readonly name: string
  readonly url: string
  readonly apiKey?: string
}

/** Saves a server. Throws ApiError, whose field is the one of the invalid input. */
export async function saveMcpServer(input: McpServerInput): Promise<void> {
  await callApi(PATH, { method: 'POST', json: input })
}

/** Removes a saved server. Throws ApiError. */
export async function removeMcpServer(name: string): Promise<void> {
  await callApi(pathOf(name), { method: 'DELETE' })
}
