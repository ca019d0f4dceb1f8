/** The routes of the application itself. */
import * as z from 'zod'
import { capabilitiesSchema } from '#lib/api/capabilities.ts'
import { capabilities } from '../capabilities.ts'
import { endpoint } from '../http/endpoint.ts'

/** Rows for the health, the abilities and the description of the application. */
export const applicationRoutes = [
  endpoint({
    method: 'GET',
    path: '/api/health',
    summary: 'Whether Rollscope runs.',
    access: 'origin',
    answers: { 200: { description: 'It does.', schema: z.object({ status: z.literal('ok'), version: z.string() }) } },
    handle: ({ services }) => ({ status: 'ok' as const, version: services.version }),
  }),
  endpoint({
    method: 'GET',
    path: '/api/capabilities',
    summary: 'Parsers and tools that there are.',
    answers: { 200: { description: 'Their names.', schema: capabilitiesSchema } },
    handle: ({ services }) => capabilities(services),
  }),
]
