/** What is told of SGLang servers: picked fields only, never a key. */
import * as z from 'zod'
import { downloadSchema } from './tokenizer-download.ts'

export const serverEntrySchema = z
  .object({
    name: z.string(),
    baseUrl: z.string(),
    source: z.enum(['built-in', 'environment', 'saved']),
    hasKey: z.boolean().describe('Whether there is a key; it is never given out.'),
  })
  .readonly()
export type ServerEntry = z.infer<typeof serverEntrySchema>

/** The answer of GET /api/servers. */
export const serverListSchema = z.object({ servers: z.array(serverEntrySchema), default: z.string() })

/** A server leaves out what it does not tell, and so do these: older versions tell less, a router next to nothing. */
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
export type ServerDescription = z.infer<typeof description>

/** Neither status nor load: the call failed. */
export const failedCallSchema = z.object({
  state: z.literal('failed'),
  code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
})

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
export type ServerStatus = z.infer<typeof serverStatusSchema>
export type ReadyStatus = Extract<ServerStatus, { state: 'ready' }>
