import type { Capabilities } from '#lib/api/capabilities.ts'
import { DEFAULT_PARSER, parserNames } from '#lib/parsers/registry.ts'
import { DEFAULT_TOOL_TIMEOUT_MS } from '#lib/rollout/loop/limits.ts'
import type { Services } from './services.ts'

/** Returns what this server can do: its parsers and built-in tools, with the reason if one is unavailable here. */
export const capabilities = ({ builtInTools }: Pick<Services, 'builtInTools'>): Capabilities => ({
  parsers: parserNames,
  defaultParser: DEFAULT_PARSER,
  tools: builtInTools.map((tool) => {
    const off = tool.off()
    return { ...tool.spec, ...(off !== undefined && { off }) }
  }),
  mockTools: true,
  toolTimeoutMs: DEFAULT_TOOL_TIMEOUT_MS,
})
