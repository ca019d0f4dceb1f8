/** Defines the current load of a server in the HTTP API. It contains selected fields only. */
import * as z from 'zod/mini'
import { withDescription } from '#lib/util/with-description.ts'
import { failedCallSchema } from './server-status.ts'

/** The answer of GET /api/servers/{name}/load. */
export const serverLoadSchema = z.discriminatedUnion('state', [
  z.object({
    state: z.literal('reported'),
    running: withDescription(z.int(), 'Requests in progress. Of a router: requests that its workers process.'),
    waiting: withDescription(z.optional(z.int()), 'Requests in the queue.'),
    maxRunning: withDescription(z.optional(z.int()), 'Maximum number of requests in progress.'),
    tokenUsage: withDescription(z.optional(z.number()), 'Share of the KV cache that is in use, 0 to 1.'),
    maxTotalTokens: withDescription(z.optional(z.int()), 'Capacity of the KV cache, in tokens.'),
    cachedShare: withDescription(
      z.optional(z.number()),
      'Share of recent prompt tokens that came from the cache, 0 to 1.',
    ),
    tokensPerSecond: withDescription(z.optional(z.number()), 'Tokens generated per second, recently.'),
  }),
  withDescription(z.object({ state: z.literal('not-reported') }), 'The server does not report its load.'),
  failedCallSchema,
])
/** Load of a server, or why it is unknown. */
export type ServerLoad = z.infer<typeof serverLoadSchema>
/** Load of a server that reports it. */
export type ReportedLoad = Extract<ServerLoad, { state: 'reported' }>
