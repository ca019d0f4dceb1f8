/** The routes of the application itself. */
import * as z from 'zod'
import { type ApplicationCapabilities, applicationCapabilitiesSchema } from '#lib/api/capabilities.ts'
import { DEFAULT_PARSER, parserNames } from '#lib/parsers/registry.ts'
import { DEFAULT_TOOL_TIMEOUT_MS } from '#lib/rollout/loop/limits.ts'
import { endpoint } from '../http/endpoint.ts'
import type { Services } from '../services.ts'

/** Returns what this server can do: its parsers and built-in tools, with the reason if one is unavailable here. */
const capabilities = ({ builtInTools }: Pick<Services, 'builtInTools'>): ApplicationCapabilities => ({
  parsers: parserNames,
  defaultParser: DEFAULT_PARSER,
  tools: builtInTools.map((tool) => {
    const off = tool.off()
    return { ...tool.spec, ...(off !== undefined && { off }) }
  }),
  mockTools: true,
  toolTimeoutMs: DEFAULT_TOOL_TIMEOUT_MS,
})

/** Rows for the health, the abilities and the description of the application. */
export const applicationRoutes = [
  endpoint({
    method: 'GET',
    path: '/api/health',
    summary: 'Reports whether Rollscope runs.',
    access: 'origin',
    answers: {
      200: { description: 'Rollscope runs.', schema: z.object({ status: z.literal('ok'), version: z.string() }) },
    },
    handle: ({ services }) => ({ status: 'ok' as const, version: services.version }),
  }),
  endpoint({
    method: 'GET',
    path: '/api/capabilities',
    summary: 'Lists the tool parsers and the built-in tools.',
    answers: { 200: { description: 'Names of parsers and tools.', schema: applicationCapabilitiesSchema } },
    handle: ({ services }) => capabilities(services),
  }),
]
