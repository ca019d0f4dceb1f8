/** The application itself. */
import * as z from 'zod'
import { capabilitiesSchema } from '../capabilities.ts'
import type { Operation } from './operation.ts'

export const applicationOperations: readonly Operation[] = [
  {
    method: 'get',
    path: '/api/health',
    summary: 'Whether Rollscope runs.',
    access: 'none',
    answers: { 200: { description: 'It does.', schema: z.object({ status: z.literal('ok'), version: z.string() }) } },
  },
  {
    method: 'get',
    path: '/api/capabilities',
    summary: 'Parsers and tools that there are.',
    answers: { 200: { description: 'Their names.', schema: capabilitiesSchema } },
  },
  {
    method: 'get',
    path: '/api/openapi.json',
    summary: 'This description.',
    answers: { 200: { description: 'OpenAPI 3.1.' } },
  },
]
