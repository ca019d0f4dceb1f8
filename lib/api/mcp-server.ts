/** Defines MCP servers and their tools in the HTTP API. It never contains a key, and only the name of a program. */
import * as z from 'zod/mini'
import { toolSpec } from '#lib/tools/tool-spec.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { serverNameSchema } from './server-name.ts'

/** Schema of an MCP server in a list. */
export const mcpServerEntrySchema = z.object({
  name: z.string(),
  source: withDescription(
    z.enum(['configuration', 'saved']),
    'configuration: the server is listed in the file that ROLLSCOPE_MCP names.',
  ),
  place: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('http'), url: z.string() }),
    z.object({ kind: z.literal('stdio'), command: withDescription(z.string(), 'The program, without its arguments.') }),
  ]),
  hasKey: withDescription(z.boolean(), 'Whether a key is sent to the server. The key itself is never returned.'),
})
/** An MCP server as the API lists it. */
export type McpServerEntry = Plain<z.infer<typeof mcpServerEntrySchema>>

/** The answer of GET /api/mcp-servers. */
export const mcpServerListSchema = z.object({ servers: z.array(mcpServerEntrySchema) })

const offeredToolSchema = z.extend(z.pick(toolSpec, { name: true, description: true, inputSchema: true }), {
  tool: withDescription(
    z.optional(z.string()),
    'Name of the tool on the server, if models call it by another one. Omitted: the same as `name`.',
  ),
  obstacle: withDescription(z.optional(z.string()), 'Why no run can use the tool. Omitted: runs can use it.'),
  fingerprint: withDescription(
    z.optional(z.string()),
    'SHA-256 of the description and the schema. A request with this fingerprint is refused after they change. Omitted: no run can use the tool.',
  ),
})
/** A tool that an MCP server offers. */
export type OfferedTool = Plain<z.infer<typeof offeredToolSchema>>

/** The answer of GET /api/mcp-servers/{name}/tools. */
export const offeredToolsSchema = z.object({ tools: z.array(offeredToolSchema) })

/** Schema of a tool of an MCP server in requests. */
export const mcpToolSchema = z.strictObject({
  mcp: withDescription(serverNameSchema, 'The MCP server.'),
  name: withDescription(
    z.string().check(z.minLength(1), z.maxLength(200)),
    'Name of the tool, as models call it or as the server does.',
  ),
  fingerprint: withDescription(
    z.exactOptional(z.string().check(z.regex(/^[0-9a-f]{64}$/, 'a SHA-256 in hexadecimal digits'))),
    'Fingerprint of the description and the schema that the user has confirmed. The run is refused if the server offers different ones. Omitted: the current ones are used.',
  ),
})
/** A tool of an MCP server, as requests name it. */
export type McpToolName = Plain<z.infer<typeof mcpToolSchema>>
