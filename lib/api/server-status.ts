/** Defines SGLang servers in the HTTP API. It contains selected fields only, and never a key. */
import * as z from 'zod'
import { downloadSchema } from './tokenizer-download.ts'

/** Schema of a server in a list. */
export const serverEntrySchema = z
  .object({
    name: z.string(),
    baseUrl: z.string(),
    source: z.enum(['built-in', 'environment', 'saved']),
    hasKey: z.boolean().describe('Whether there is a key; it is never given out.'),
  })
  .readonly()
/** A server as the API lists it. */
export type ServerEntry = z.infer<typeof serverEntrySchema>

/** The answer of GET /api/servers. */
export const serverListSchema = z.object({ servers: z.array(serverEntrySchema), default: z.string() })

/** Fields that a server does not report are omitted. Older versions report less, and a router almost nothing. */
const description = z.object({
  kind: z.enum(['server', 'router']).describe('A router stands in front of servers and tells little of them.'),
  modelName: z.string().optional(),
  tokenizerName: z.string().optional().describe('Hub name, or a path on the server’s machine.'),
  version: z.string().optional(),
  contextLength: z.int().optional(),
  weightVersion: z.string().optional(),
  toolCallParser: z.string().optional(),
  reasoningParser: z.string().optional(),
  incrementalStreaming: z
    .boolean()
    .optional()
    .describe('Whether a chunk of a stream brings only what is new, instead of everything so far.'),
  deterministicInference: z.boolean().optional(),
  prefixCache: z.boolean().optional().describe('Whether prompts that begin alike share what was computed.'),
  maxTotalTokens: z.int().optional().describe('Tokens that the KV cache holds.'),
  workers: z
    .array(z.object({ url: z.string(), isHealthy: z.boolean() }))
    .optional()
    .describe('Those of a router.'),
  latencyMs: z.number().describe('From asking for the model’s facts to having them.'),
})
/** What a server reports about itself. */
export type ServerDescription = z.infer<typeof description>

/** Schema of a call to a server that failed, in place of its status or load. */
export const failedCallSchema = z.object({
  state: z.literal('failed'),
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
})

/** The answer of GET /api/servers/{name}/status. */
export const serverStatusSchema = z.discriminatedUnion('state', [
  description.extend({
    state: z.literal('ready'),
    parser: z
      .string()
      .optional()
      .describe('Our parser for the format of toolCallParser. Omitted: the server names none, or one not known here.'),
  }),
  z.object({
    state: z.literal('starting'),
    download: downloadSchema.optional().describe('Of the built-in server’s model.'),
  }),
  failedCallSchema,
])
/** Status of a server: ready, starting or failed. */
export type ServerStatus = z.infer<typeof serverStatusSchema>
/** Status of a server that answers. */
export type ReadyStatus = Extract<ServerStatus, { state: 'ready' }>
