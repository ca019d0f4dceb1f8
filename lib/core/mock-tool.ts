/** Mock tools as users define them: data, never code. What they answer is in mock-reply.ts. */
import * as z from 'zod'
import { type Plain, schemas } from './trajectory.ts'

const { mockShapes, toolSpec } = schemas

/** What a provider accepts, and the SDK with it. */
const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/

/** A mock tool as requests define it: the tool's specification, with what it does. */
export const mockToolSchema = z.strictObject({
  name: z.string().regex(TOOL_NAME, 'a name of 1 to 64 letters, digits, "_" or "-"'),
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

/** Why tools of these names cannot be offered together; undefined when they can. */
export function toolListProblem(names: readonly string[]): string | undefined {
  const known = new Map<string, string>()
  for (const name of names) {
    // The SDK, too, takes them for one.
    const plain = name.replaceAll('-', '_')
    const other = known.get(plain)
    if (other === name) return `there are two tools named ${JSON.stringify(name)}`
    if (other !== undefined)
      return `the tools ${JSON.stringify(other)} and ${JSON.stringify(name)} differ in "-" and "_" alone`
    known.set(plain, name)
  }
  return undefined
}
