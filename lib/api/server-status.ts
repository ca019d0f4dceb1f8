/** Defines SGLang servers in the HTTP API. It contains selected fields only, and never a key. */
import * as z from 'zod'
import { downloadSchema } from './tokenizer-download.ts'

/** Schema of a server in a list. */
export const serverEntrySchema = z
  .object({
    name: z.string(),
    baseUrl: z.string(),
    source: z.enum(['built-in', 'environment', 'saved']),
    hasKey: z.boolean().describe('Whether a key is stored. The key itself is never returned.'),
  })
  .readonly()
/** A server as the API lists it. */
export type ServerEntry = z.infer<typeof serverEntrySchema>

/** The answer of GET /api/servers. */
export const serverListSchema = z.object({ servers: z.array(serverEntrySchema), default: z.string() })

/** Fields that a server does not report are omitted. Older versions report less, and a router almost nothing. */
const description = z.object({
  kind: z
    .enum(['server', 'router'])
    .describe('A router forwards requests to several servers and reports little about them.'),
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
    .describe('Whether each chunk of a stream contains only new tokens instead of the whole reply so far.'),
  deterministicInference: z.boolean().optional(),
  prefixCache: z.boolean().optional().describe('Whether prompts with the same beginning share computed values.'),
  maxTotalTokens: z.int().optional().describe('Capacity of the KV cache, in tokens.'),
  workers: z
    .array(z.object({ url: z.string(), isHealthy: z.boolean() }))
    .optional()
    .describe('The workers of a router.'),
  latencyMs: z.number().describe('Round trip of the request for the model’s details, in milliseconds.'),
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
      .describe(
        'Rollscope’s parser for the format of toolCallParser. Omitted: the server names no parser, or an unsupported one.',
      ),
  }),
  z.object({
    state: z.literal('starting'),
    download: downloadSchema.optional().describe('Download of the built-in server’s model.'),
  }),
  failedCallSchema,
])
/** Status of a server: ready, starting or failed. */
export type ServerStatus = z.infer<typeof serverStatusSchema>
/** Status of a server that answers. */
export type ReadyStatus = Extract<ServerStatus, { state: 'ready' }>
