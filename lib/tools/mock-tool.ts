/** Mock tools as users define them: data, never code. What they answer is in mock-reply.ts. */
import * as z from 'zod'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { Plain } from '#lib/util/plain.ts'
import { mockShapes, toolSpec } from './tool-spec.ts'

/** What a provider accepts, and the SDK with it. */
export const toolNameSchema = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/, 'a name of 1 to 64 letters, digits, "_" or "-"')

/** A mock tool as requests define it: the tool's specification, with what it does. */
export const mockToolSchema = z.strictObject({
  name: toolNameSchema,
  description: z.string().max(10_000).optional(),
  inputSchema: toolSpec.shape.inputSchema,
  mock: z.strictObject({
    reply: z.discriminatedUnion('kind', [z.strictObject(mockShapes.canned), z.strictObject(mockShapes.templated)]),
    delayMs: mockShapes.delayMs.optional(),
    failure: z
      .discriminatedUnion('kind', [
        z.strictObject({ ...mockShapes.always, error: mockShapes.error }),
        z.strictObject({ ...mockShapes.calls, error: mockShapes.error }),
        z.strictObject({ ...mockShapes.every, error: mockShapes.error }),
      ])
      .optional()
      .describe(mockShapes.numbering),
  }),
})
export type MockTool = Plain<z.infer<typeof mockToolSchema>>

/** Why these tools cannot be offered together; undefined when they can. */
export function toolListProblem(tools: readonly Pick<ToolSpec, 'name' | 'mcp' | 'mock'>[]): string | undefined {
  const known = new Map<string, (typeof tools)[number]>()
  for (const tool of tools) {
    const { name } = tool
    // The SDK, too, takes them for one.
    const plain = name.replaceAll('-', '_')
    const other = known.get(plain)
    if (other?.name === name) return `there are two tools named ${JSON.stringify(name)}${origins(other, tool)}`
    if (other)
      return `the tools ${JSON.stringify(other.name)} and ${JSON.stringify(name)} differ in "-" and "_" alone${origins(other, tool)}`
    known.set(plain, tool)
  }
  return undefined
}

/** Said where a server that others run gave one its name. */
const origins = (...tools: readonly Pick<ToolSpec, 'mcp' | 'mock'>[]): string =>
  tools.some(({ mcp }) => mcp)
    ? `: ${tools.map(({ mcp, mock }) => (mcp ? `one of the MCP server ${mcp.server}` : mock ? 'a mock tool' : 'a built-in one')).join(', ')}`
    : ''
