/** What this Rollscope can do, for pages and scripts that offer a choice. */
import * as z from 'zod'
import { schemas, type ToolSpec } from '#lib/core/trajectory.ts'
import { parserNames } from '#lib/parsers/registry.ts'
import { tools } from './rollouts.ts'

export const capabilitiesSchema = z.object({
  parsers: z.array(z.string()).describe('Names of the tool-call parsers.'),
  tools: z.array(schemas.toolSpec).describe('Tools that come with the application.'),
})

export const capabilities = (): { readonly parsers: readonly string[]; readonly tools: readonly ToolSpec[] } => ({
  parsers: parserNames,
  tools: tools.map(({ spec }) => spec),
})
