/** Stores SGLang and MCP servers with their keys. */
import path from 'node:path'
import * as z from 'zod'
import { openPrivateList, type PrivateList } from './private-list.ts'

/** A saved inference server. */
export interface SavedServer {
  readonly name: string
  readonly baseUrl: string
  /** Only sent to the origin of the base URL. */
  readonly apiKey?: string
}

/** The saved inference servers. */
export type ServerStore = PrivateList<SavedServer>

const savedServer = z.strictObject({ name: z.string(), baseUrl: z.string(), apiKey: z.string().exactOptional() })

/** Opens servers.json in the data folder. */
export const openServerStore = (folder: string): ServerStore =>
  openPrivateList(path.join(folder, 'servers.json'), savedServer)

/** A saved MCP server with its URL. */
export interface SavedMcpServer {
  readonly name: string
  readonly url: string
  /** Only sent to the origin of the URL. */
  readonly apiKey?: string
}

/** The saved MCP servers. */
export type McpServerStore = PrivateList<SavedMcpServer>

const savedMcpServer = z.strictObject({ name: z.string(), url: z.string(), apiKey: z.string().exactOptional() })

/** Opens mcp-servers.json in the data folder. */
export const openMcpServerStore = (folder: string): McpServerStore =>
  openPrivateList(path.join(folder, 'mcp-servers.json'), savedMcpServer)
