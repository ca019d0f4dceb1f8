/** Reads values of the playground's form that a browser remembers or a settings file contains. */
import * as z from 'zod/mini'
import { mcpToolSchema } from '#lib/api/mcp-server.ts'
import { samplingTextsSchema } from '#lib/sampling/sampling-form.ts'
import { mockToolSchema } from '#lib/tools/mock-tool.ts'
import { rewardDraftSchema } from './reward-draft.ts'
import type { Setup } from './setup.ts'

/** Schema of the form, as the browser remembers it and settings files contain it. Missing fields get their defaults. */
export const setupSchema = z.object({
  /** Name of the server; '' is the default server. */
  server: z._default(z.string(), ''),
  /** Names of other servers that run the first prompt beside `server`. With some, `server` is a name. */
  furtherServers: z._default(z.readonly(z.array(z.string())), []),
  /** generate: token-in/token-out. chat: the chat baseline, which sends messages. */
  endpoint: z._default(z.enum(['generate', 'chat']), 'generate'),
  /** Name of the tokenizer; '' is the one that the server names, SERVER_TOKENIZER the server's own over HTTP. */
  tokenizer: z._default(z.string(), ''),
  /** Text of the chat template; '' is the tokenizer's own. */
  chatTemplate: z._default(z.string(), ''),
  system: z._default(z.string(), 'You are a helpful assistant.'),
  /** Names of the tools of a run. A name is that of a mock tool, otherwise of an MCP tool, otherwise of a built-in tool. */
  tools: z._default(z.readonly(z.array(z.string())), ['calculator']),
  mockTools: z._default(z.array(mockToolSchema), []),
  /** Tools of MCP servers that can be chosen for runs. */
  mcpTools: z._default(z.array(mcpToolSchema), []),
  /** Name of the tool parser; '' is the one that the server names. */
  parser: z._default(z.string(), ''),
  thinking: z._default(z.boolean(), true),
  /** Further template options as a JSON object. */
  templateOptions: z._default(z.string(), ''),
  /** Sampling parameters as typed, by their names in SGLang. */
  sampling: z.prefault(samplingTextsSchema, {}),
  limits: z.prefault(
    z.readonly(
      z.object({
        maxToolIterations: z._default(z.string(), '5'),
        maxToolCalls: z._default(z.string(), ''),
        maxParallelToolCalls: z._default(z.string(), ''),
        maxMessages: z._default(z.string(), ''),
        maxTokens: z._default(z.string(), '4096'),
        contextWindow: z._default(z.string(), ''),
        toolTimeoutMs: z._default(z.string(), ''),
        maxResultCharacters: z._default(z.string(), ''),
      }),
    ),
    {},
  ),
  /** Number of samples of one prompt that run at once. */
  samples: z._default(z.string(), '1'),
  /** Whether to record the experts of a mixture of experts. */
  routedExperts: z._default(z.boolean(), false),
  /** Name of the LoRA adapter; '' is none. */
  adapter: z._default(z.string(), ''),
  /** Reward rule of the samples. */
  reward: rewardDraftSchema,
  topLogprobs: z._default(z.string(), '5'),
  promptLogprobs: z._default(z.boolean(), false),
  stream: z._default(z.boolean(), true),
})

/** Reads a setup that an earlier version may have remembered. A field that cannot be read gets its default. */
export function setupFrom(remembered: unknown): Setup {
  const { data, error } = setupSchema.safeParse(remembered)
  if (data) return data
  const unreadable = new Set(error.issues.map(({ path: [field] }) => field))
  const rest = Object.entries(Object(remembered)).filter(([field]) => !unreadable.has(field))
  return setupSchema.parse(Object.fromEntries(rest))
}
