/** Defines a tool as trajectories store it. It is separate from the format, so that a page can import it alone. */
import * as z from 'zod'
import { isObject } from '#lib/json/json-object.ts'
import type { Plain } from '#lib/util/plain.ts'

/** Schema of any JSON object. */
export const jsonObject = z.custom<Record<string, unknown>>(isObject, { error: 'an object' }).meta({ type: 'object' })

const LONGEST_TEXT = 100_000

/** Fields of a mock. Files may contain further ones, requests (mock-tool.ts) may not. */
export const mockShapes = {
  canned: { kind: z.literal('canned').describe('Always the same text.'), text: z.string().max(LONGEST_TEXT) },
  templated: {
    kind: z
      .literal('templated')
      .describe('`{{name}}` and `{{a.b.0}}` are replaced by arguments, `{{.}}` by all of them as JSON.'),
    template: z.string().max(LONGEST_TEXT),
  },
  delayMs: z.int().min(0).max(600_000).describe('Milliseconds before the reply or the failure.'),
  always: { kind: z.literal('always') },
  calls: {
    kind: z.literal('calls'),
    calls: z.array(z.int().min(1)).min(1).max(1000).describe('Which calls fail.'),
  },
  every: { kind: z.literal('every'), nth: z.int().min(2).describe('Every nth call fails.') },
  error: z.string().min(1).max(10_000).describe('Text for the model, after "Error: ".'),
  numbering: 'Calls of the tool are numbered from 1 over the whole trajectory, including refused ones.',
}
const mock = z
  .looseObject({
    reply: z.discriminatedUnion('kind', [z.looseObject(mockShapes.canned), z.looseObject(mockShapes.templated)]),
    delayMs: mockShapes.delayMs.optional().describe(`${mockShapes.delayMs.description} Omitted: none.`),
    failure: z
      .discriminatedUnion('kind', [
        z.looseObject({ ...mockShapes.always, error: mockShapes.error }),
        z.looseObject({ ...mockShapes.calls, error: mockShapes.error }),
        z.looseObject({ ...mockShapes.every, error: mockShapes.error }),
      ])
      .optional()
      .describe(`${mockShapes.numbering} Omitted: none fails.`),
  })
  .describe('The behaviour of a mock tool: data, never code.')

/** Schema of a tool in a file. Further fields are kept. */
export const toolSpec = z.looseObject({
  name: z.string(),
  description: z.string().optional(),
  inputSchema: jsonObject.describe('JSON Schema of the arguments, key order as rendered.'),
  mock: mock
    .optional()
    .describe('The tool is a mock that the user defined. Never rendered. Omitted: it is not a mock.'),
  mcp: z
    .looseObject({ server: z.string().describe('Name of the MCP server at the time of the run.') })
    .optional()
    .describe('The tool belongs to an MCP server. Never rendered. Omitted, and not a mock: it is a built-in tool.'),
})

/** A tool with its schema. `mock` or `mcp` say where it comes from if it is not a tool of the application. */
export type ToolSpec = Plain<z.infer<typeof toolSpec>>
/** Behaviour of a mock tool. */
export type Mock = NonNullable<ToolSpec['mock']>
