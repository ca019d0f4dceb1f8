/** Defines what this Rollscope can do, for pages and scripts that offer a choice. */
import * as z from 'zod'
import { toolSpec } from '#lib/tools/tool-spec.ts'
import type { Plain } from '#lib/util/plain.ts'

/** The answer of GET /api/capabilities. */
export const capabilitiesSchema = z.object({
  parsers: z.array(z.string()).describe('Names of the tool-call parsers.'),
  defaultParser: z
    .string()
    .describe('The one used where neither the run nor the server names another, and the chat template names none.'),
  tools: z
    .array(
      toolSpec.extend({
        off: z
          .string()
          .optional()
          .describe('Why it cannot be used on this machine. Omitted: nothing speaks against it.'),
      }),
    )
    .describe('Tools that come with the application.'),
  mockTools: z.boolean().describe('Whether a rollout may be given mock tools.'),
  toolTimeoutMs: z.int().describe('Milliseconds that a tool call may take, where no limit says otherwise.'),
})
/** Parsers, tools and limits of this application. */
export type Capabilities = Plain<z.infer<typeof capabilitiesSchema>>
