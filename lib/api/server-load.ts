/** Defines the current load of a server in the HTTP API. It contains selected fields only. */
import * as z from 'zod'
import { failedCallSchema } from './server-status.ts'

/** The answer of GET /api/servers/{name}/load. */
export const serverLoadSchema = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('told'),
    running: z.int().describe('Requests in progress. Of a router: requests that its workers process.'),
    waiting: z.int().optional().describe('Requests in the queue.'),
    maxRunning: z.int().optional().describe('Maximum number of requests in progress.'),
    tokenUsage: z.number().optional().describe('Share of the KV cache that is in use, 0 to 1.'),
    maxTotalTokens: z.int().optional().describe('Capacity of the KV cache, in tokens.'),
    cachedShare: z.number().optional().describe('Share of recent prompt tokens that came from the cache, 0 to 1.'),
    tokensPerSecond: z.number().optional().describe('Tokens generated per second, recently.'),
  }),
  z.object({ state: z.literal('not-told') }).describe('The server does not report its load.'),
  failedCallSchema,
])
/** Load of a server, or why it is unknown. */
export type ServerLoad = z.infer<typeof serverLoadSchema>
/** Load of a server that reports it. */
export type ReportedLoad = Extract<ServerLoad, { state: 'told' }>
