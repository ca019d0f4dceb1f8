/** Defines inference servers in the HTTP API. It contains selected fields only, and never a key. */
import * as z from 'zod/mini'
import { withDescription } from '#lib/util/with-description.ts'
import { serverCapabilitiesSchema } from './engine/capabilities.ts'
import { downloadSchema } from './tokenizer-download.ts'

/** Schema of a server in a list. */
export const serverEntrySchema = z.readonly(
  z.object({
    name: z.string(),
    baseUrl: z.string(),
    source: z.enum(['built-in', 'environment', 'saved']),
    hasKey: withDescription(z.boolean(), 'Whether a key is stored. The key itself is never returned.'),
  }),
)
/** A server as the API lists it. */
export type ServerEntry = z.infer<typeof serverEntrySchema>

/** The answer of GET /api/servers. */
export const serverListSchema = z.object({ servers: z.array(serverEntrySchema), default: z.string() })

/** Fields that a server does not report are omitted. Older versions report less, and a router almost nothing. */
const description = z.object({
  kind: withDescription(z.enum(['server', 'router']), 'A router forwards requests to servers.'),
  /** What the server can do. Omitted: unknown. */
  capabilities: z.optional(serverCapabilitiesSchema),
  modelName: z.optional(z.string()),
  tokenizerName: withDescription(z.optional(z.string()), 'Hub name, or a path of the server.'),
  version: z.optional(z.string()),
  contextLength: withDescription(
    z.optional(z.int()),
    'Most tokens of a prompt and its reply together: the context of the model, or the KV cache if that is smaller.',
  ),
  weightVersion: z.optional(z.string()),
  toolCallParser: z.optional(z.string()),
  reasoningParser: z.optional(z.string()),
  adapters: withDescription(
    z.optional(z.array(z.string())),
    'Names of the LoRA adapters that requests can choose. Omitted: unknown.',
  ),
  incrementalStreaming: withDescription(
    z.optional(z.boolean()),
    'Whether each chunk of a stream contains only new tokens.',
  ),
  deterministicInference: z.optional(z.boolean()),
  prefixCache: withDescription(z.optional(z.boolean()), 'Whether prompts with the same beginning share values.'),
  maxTotalTokens: withDescription(z.optional(z.int()), 'Capacity of the KV cache, in tokens.'),
  workers: withDescription(
    z.optional(z.array(z.object({ url: z.string(), isHealthy: z.boolean() }))),
    'The workers of a router.',
  ),
  latencyMs: withDescription(z.number(), 'Milliseconds of the request for the model’s details.'),
})
/** What a server reports about itself. */
export type ServerDescription = z.infer<typeof description>

/** Schema of a call to a server that failed, in place of its status or load. */
export const failedCallSchema = z.object({
  state: z.literal('failed'),
  code: z.string(),
  message: z.string(),
  hint: z.optional(z.string()),
})

/** The answer of GET /api/servers/{name}/status. */
export const serverStatusSchema = z.discriminatedUnion('state', [
  z.extend(description, {
    state: z.literal('ready'),
    parser: withDescription(
      z.optional(z.string()),
      'Rollscope’s parser for the format of toolCallParser. Omitted: the server names no parser, or an unsupported one.',
    ),
  }),
  z.object({
    state: z.literal('starting'),
    download: withDescription(z.optional(downloadSchema), 'Download of the built-in server’s model.'),
  }),
  failedCallSchema,
])
/** Status of a server: ready, starting or failed. */
export type ServerStatus = z.infer<typeof serverStatusSchema>
/** Status of a server that answers. */
export type ReadyStatus = Extract<ServerStatus, { state: 'ready' }>
