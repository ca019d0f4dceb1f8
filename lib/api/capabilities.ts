/** Defines what this Rollscope can do, for pages and scripts that offer a choice. */
import * as z from 'zod'
import { toolSpec } from '#lib/tools/tool-spec.ts'
import type { Plain } from '#lib/util/plain.ts'

/** The answer of GET /api/capabilities. */
export const capabilitiesSchema = z.object({
  parsers: z.array(z.string()).describe('Names of the tool-call parsers.'),
  defaultParser: z
    .string()
    .describe(
      'The parser of runs without one of their own, if neither the server nor the chat template names a parser.',
    ),
  tools: z
    .array(
      toolSpec.extend({
        off: z.string().optional().describe('Why the tool cannot be used on this machine. Omitted: it can be used.'),
      }),
    )
    .describe('Tools that come with the application.'),
  mockTools: z.boolean().describe('Whether rollouts may have mock tools.'),
  toolTimeoutMs: z
    .int()
    .describe('Milliseconds that a tool call may take, unless a limit of the run sets another value.'),
})
/** Parsers, tools and limits of this application. */
export type Capabilities = Plain<z.infer<typeof capabilitiesSchema>>
