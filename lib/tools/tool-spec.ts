/** Defines a tool as trajectories store it. It is separate from the format, so that a page can import it alone. */
import * as z from 'zod/mini'
import { isObject } from '#lib/json/json-object.ts'
import type { Plain } from '#lib/util/plain.ts'
import { withDescription } from '#lib/util/with-description.ts'

/** Schema of any JSON object. */
export const jsonObject = z
  .custom<Record<string, unknown>>(isObject, { error: 'an object' })
  .check(z.meta({ type: 'object' }))

const LONGEST_TEXT = 100_000

/** Fields of a mock. Files may contain further ones, requests (mock-tool.ts) may not. */
export const mockShapes = {
  canned: {
    kind: withDescription(z.literal('canned'), 'Always the same text.'),
    text: z.string().check(z.maxLength(LONGEST_TEXT)),
  },
  templated: {
    kind: withDescription(
      z.literal('templated'),
      '`{{name}}` and `{{a.b.0}}` are replaced by arguments, `{{.}}` by all of them as JSON.',
    ),
    template: z.string().check(z.maxLength(LONGEST_TEXT)),
  },
  delayMs: z.int().check(z.minimum(0), z.maximum(600_000)),
  always: { kind: z.literal('always') },
  calls: {
    kind: z.literal('calls'),
    calls: withDescription(
      z.array(z.int().check(z.minimum(1))).check(z.minLength(1), z.maxLength(1000)),
      'Which calls fail.',
    ),
  },
  every: { kind: z.literal('every'), nth: withDescription(z.int().check(z.minimum(2)), 'Every nth call fails.') },
  error: withDescription(z.string().check(z.minLength(1), z.maxLength(10_000)), 'Text for the model, after "Error: ".'),
  numbering: 'Calls of the tool are numbered from 1 over the whole trajectory, including refused ones.',
}
const mock = withDescription(
  z.looseObject({
    reply: z.discriminatedUnion('kind', [z.looseObject(mockShapes.canned), z.looseObject(mockShapes.templated)]),
    delayMs: withDescription(
      z.optional(mockShapes.delayMs),
      'Milliseconds before the reply or the failure. Omitted: none.',
    ),
    failure: withDescription(
      z.optional(
        z.discriminatedUnion('kind', [
          z.looseObject({ ...mockShapes.always, error: mockShapes.error }),
          z.looseObject({ ...mockShapes.calls, error: mockShapes.error }),
          z.looseObject({ ...mockShapes.every, error: mockShapes.error }),
        ]),
      ),
      `${mockShapes.numbering} Omitted: none fails.`,
    ),
  }),
  'The behaviour of a mock tool: data, never code.',
)

/** Schema of a tool in a file. Further fields are kept. */
export const toolSpec = z.looseObject({
  name: z.string(),
  description: z.optional(z.string()),
  inputSchema: withDescription(jsonObject, 'JSON Schema of the arguments, key order as rendered.'),
  mock: withDescription(
    z.optional(mock),
    'The tool is a mock that the user defined. Never rendered. Omitted: it is not a mock.',
  ),
  mcp: withDescription(
    z.optional(
      z.looseObject({
        server: withDescription(z.string(), 'Name of the MCP server at the time of the run.'),
        tool: withDescription(
          z.optional(z.string()),
          'Name of the tool on the server. Omitted: the same as `name`, by which the model calls it.',
        ),
      }),
    ),
    'The tool belongs to an MCP server. Never rendered. Omitted, and not a mock: it is a built-in tool.',
  ),
})

/** A tool with its schema. `mock` or `mcp` say where it comes from if it is not a tool of the application. */
export type ToolSpec = Plain<z.infer<typeof toolSpec>>
/** Behaviour of a mock tool. */
export type Mock = NonNullable<ToolSpec['mock']>
