/** What is told of SGLang servers: picked fields only, never a key. */
import * as z from 'zod'

/** One spelling of each: names that look alike are one name. */
export const serverNameSchema = z
  .string()
  .normalize('NFC')
  .regex(
    /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} ._-]{0,58}[\p{L}\p{M}\p{N}._-])?$/u,
    'a name of at most 60 letters, digits, spaces and . _ -, beginning with a letter or digit',
  )

export const serverEntrySchema = z
  .object({
    name: z.string(),
    baseUrl: z.string(),
    source: z.enum(['built-in', 'environment', 'saved']),
    hasKey: z.boolean().describe('Whether there is a key; it is never given out.'),
  })
  .readonly()
export type ServerEntry = z.infer<typeof serverEntrySchema>

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

const failed = z.object({
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
  z.object({ state: z.literal('starting') }),
  failed,
])
export type ServerStatus = z.infer<typeof serverStatusSchema>
export type ReadyStatus = Extract<ServerStatus, { state: 'ready' }>

/** What a server is busy with. */
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
  failed,
])
export type ServerLoad = z.infer<typeof serverLoadSchema>
export type ToldLoad = Extract<ServerLoad, { state: 'told' }>
