/** The MCP servers that the application knows, and what they offer. */
import { queryOptions } from '@tanstack/react-query'
import { mcpServerListSchema, offeredToolsSchema } from '#lib/api/mcp-server.ts'
import { callApi, fetchJson } from './api.ts'

const PATH = '/api/mcp-servers'
const pathOf = (name: string): string => `${PATH}/${encodeURIComponent(name)}`

export const mcpServersOptions = () =>
  queryOptions({
    queryKey: ['mcp-servers'],
    queryFn: async ({ signal }) => (await fetchJson(PATH, mcpServerListSchema, { signal })).servers,
  })

/** Asking starts a program, where the server is one. */
export const mcpToolsOptions = (name: string) =>
  queryOptions({
    queryKey: ['mcp-tools', name],
    queryFn: async ({ signal }) => (await fetchJson(`${pathOf(name)}/tools`, offeredToolsSchema, { signal })).tools,
    retry: false,
  })

export interface McpServerInput {
  readonly name: string
  readonly url: string
  readonly apiKey?: string
}

/** Throws ApiError; its field is that of the input which is wrong. */
export async function saveMcpServer(input: McpServerInput): Promise<void> {
  await callApi(PATH, { method: 'POST', json: input })
}

export async function removeMcpServer(name: string): Promise<void> {
  await callApi(pathOf(name), { method: 'DELETE' })
}
