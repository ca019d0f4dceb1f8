/** Defines mock tools, which are data and never code. mock-reply.ts returns their replies. */
import * as z from 'zod/mini'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'
import { mockShapes, toolSpec } from './tool-spec.ts'

/** Tool names that model providers and the SDK accept. */
export const toolNameSchema = z
  .string()
  .check(z.regex(/^[a-zA-Z0-9_-]{1,64}$/, 'a name of 1 to 64 letters, digits, "_" or "-"'))

/** Schema of a mock tool in requests: the specification and the behaviour. */
export const mockToolSchema = z.strictObject({
  name: toolNameSchema,
  description: z.optional(z.string().check(z.maxLength(10_000))),
  inputSchema: toolSpec.shape.inputSchema,
  mock: z.strictObject({
    reply: z.discriminatedUnion('kind', [z.strictObject(mockShapes.canned), z.strictObject(mockShapes.templated)]),
    delayMs: withDescription(z.optional(mockShapes.delayMs), 'Milliseconds before the reply or the failure.'),
    failure: withDescription(
      z.optional(
        z.discriminatedUnion('kind', [
          z.strictObject({ ...mockShapes.always, error: mockShapes.error }),
          z.strictObject({ ...mockShapes.calls, error: mockShapes.error }),
          z.strictObject({ ...mockShapes.every, error: mockShapes.error }),
        ]),
      ),
      mockShapes.numbering,
    ),
  }),
})
/** A mock tool of a request. */
export type MockTool = Plain<z.infer<typeof mockToolSchema>>

/** Returns why these tools cannot be combined, or undefined if they can. */
export function toolListProblem(tools: readonly Pick<ToolSpec, 'name' | 'mcp' | 'mock'>[]): string | undefined {
  const known = new Map<string, (typeof tools)[number]>()
  for (const tool of tools) {
    const { name } = tool
    // The SDK treats these names as equal too.
    const plain = name.replaceAll('-', '_')
    const other = known.get(plain)
    if (other?.name === name) return `there are two tools named ${JSON.stringify(name)}${origins(other, tool)}`
    if (other)
      return `the tools ${JSON.stringify(other.name)} and ${JSON.stringify(name)} differ only in "-" and "_"${origins(other, tool)}`
    known.set(plain, tool)
  }
  return undefined
}

/** Returns where the tools come from, if one of them belongs to an MCP server; otherwise ''. */
const origins = (...tools: readonly Pick<ToolSpec, 'mcp' | 'mock'>[]): string =>
  tools.some(({ mcp }) => mcp)
    ? `: ${tools.map(({ mcp, mock }) => (mcp ? `a tool of the MCP server ${mcp.server}` : mock ? 'a mock tool' : 'a built-in tool')).join(', ')}`
    : ''
