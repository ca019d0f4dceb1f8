/** What this Rollscope can do, for pages and scripts that offer a choice. */
import * as z from 'zod'
import { schemas, type ToolSpec } from '#lib/core/trajectory.ts'
import { DEFAULT_PARSER, parserNames } from '#lib/parsers/registry.ts'
import { tools } from './rollouts.ts'

export const capabilitiesSchema = z.object({
  parsers: z.array(z.string()).describe('Names of the tool-call parsers.'),
  defaultParser: z.string().describe('The one used where neither the run nor the server names another.'),
  tools: z.array(schemas.toolSpec).describe('Tools that come with the application.'),
})

interface Capabilities {
  readonly parsers: readonly string[]
  readonly defaultParser: string
  readonly tools: readonly ToolSpec[]
}

export const capabilities = (): Capabilities => ({
  parsers: parserNames,
  defaultParser: DEFAULT_PARSER,
  tools: tools.map(({ spec }) => spec),
})
