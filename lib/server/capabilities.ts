/** What this Rollscope can do, for pages and scripts that offer a choice. */
import * as z from 'zod'
import { DEFAULT_PARSER, parserNames } from '#lib/parsers/registry.ts'
import { DEFAULT_TOOL_TIMEOUT_MS } from '#lib/rollout/loop/limits.ts'
import { schemas } from '#lib/trajectory/format/trajectory.ts'
import type { Plain } from '#lib/util/plain.ts'
import type { Services } from './services.ts'

export const capabilitiesSchema = z.object({
  parsers: z.array(z.string()).describe('Names of the tool-call parsers.'),
  defaultParser: z
    .string()
    .describe('The one used where neither the run nor the server names another, and the chat template tells none.'),
  tools: z
    .array(
      schemas.toolSpec.extend({
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

export const capabilities = ({
  builtInTools,
}: Pick<Services, 'builtInTools'>): Plain<z.infer<typeof capabilitiesSchema>> => ({
  parsers: parserNames,
  defaultParser: DEFAULT_PARSER,
  tools: builtInTools.map((tool) => {
    const off = tool.off()
    return { ...tool.spec, ...(off !== undefined && { off }) }
  }),
  mockTools: true,
  toolTimeoutMs: DEFAULT_TOOL_TIMEOUT_MS,
})
