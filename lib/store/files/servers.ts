/** Saved servers, SGLang's and MCP's, with their keys. */
import path from 'node:path'
import * as z from 'zod'
import { openPrivateList, type PrivateList } from './private-list.ts'

export interface SavedServer {
  readonly name: string
  readonly baseUrl: string
  /** Bound to the origin of the base URL. */
  readonly apiKey?: string
}

export type ServerStore = PrivateList<SavedServer>

const savedServer = z.strictObject({ name: z.string(), baseUrl: z.string(), apiKey: z.string().exactOptional() })

export const openServerStore = (folder: string): ServerStore =>
  openPrivateList(path.join(folder, 'servers.json'), savedServer)

/** An MCP server that is called by its URL. */
export interface SavedMcpServer {
  readonly name: string
  readonly url: string
  /** Bound to the origin of the URL. */
  readonly apiKey?: string
}

export type McpServerStore = PrivateList<SavedMcpServer>

const savedMcpServer = z.strictObject({ name: z.string(), url: z.string(), apiKey: z.string().exactOptional() })

export const openMcpServerStore = (folder: string): McpServerStore =>
  openPrivateList(path.join(folder, 'mcp-servers.json'), savedMcpServer)
