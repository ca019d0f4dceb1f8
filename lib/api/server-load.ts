/** Defines the current load of a server in the HTTP API. It contains selected fields only. */
import * as z from 'zod'
import { failedCallSchema } from './server-status.ts'

/** The answer of GET /api/servers/{name}/load. */
export const serverLoadSchema = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('told'),
    running: z.int().describe('Requests under way; of a router: those that it has handed to its workers.'),
    waiting: z.int().optional().describe('Requests that wait for a turn.'),
    maxRunning: z.int().optional().describe('Requests that can be under way at once.'),
    tokenUsage: z.number().optional().describe('Share of the KV cache that is in use, 0 to 1.'),
    maxTotalTokens: z.int().optional().describe('Tokens that the KV cache holds.'),
    cachedShare: z.number().optional().describe('Share of the prompt tokens read of late that was cached, 0 to 1.'),
    tokensPerSecond: z.number().optional().describe('Generated, of late.'),
  }),
  z.object({ state: z.literal('not-told') }).describe('This server has no such answer.'),
  failedCallSchema,
])
/** Load of a server, or why it is unknown. */
export type ServerLoad = z.infer<typeof serverLoadSchema>
/** Load of a server that reports it. */
export type ReportedLoad = Extract<ServerLoad, { state: 'told' }>
