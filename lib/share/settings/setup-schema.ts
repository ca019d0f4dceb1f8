/** Reads values of the playground's form that a browser remembers or a settings file contains. */
import * as z from 'zod/mini'
import { mcpToolSchema } from '#lib/api/mcp-server.ts'
import { textsSchema } from '#lib/sampling/sampling-form.ts'
import { mockToolSchema } from '#lib/tools/mock-tool.ts'
import { DEFAULT_SETUP, type Setup } from './setup.ts'

const text = z.string()
const names = z.readonly(z.array(text))
const flag = z.boolean()

const { reward } = DEFAULT_SETUP
const rewardSchema = z.object({
  kind: z._default(z.enum(['none', 'exact', 'pattern', 'number']), reward.kind),
  expected: z._default(text, reward.expected),
  pattern: z._default(text, reward.pattern),
  tolerance: z._default(text, reward.tolerance),
  ignoreCase: z._default(flag, reward.ignoreCase),
})

/** Schema of the form, as the browser remembers it and settings files contain it. Missing fields get their defaults. */
export const setupSchema = z.object({
  server: z._default(text, DEFAULT_SETUP.server),
  furtherServers: z._default(names, DEFAULT_SETUP.furtherServers),
  endpoint: z._default(z.enum(['generate', 'chat']), DEFAULT_SETUP.endpoint),
  tokenizer: z._default(text, DEFAULT_SETUP.tokenizer),
  chatTemplate: z._default(text, DEFAULT_SETUP.chatTemplate),
  system: z._default(text, DEFAULT_SETUP.system),
  tools: z._default(names, DEFAULT_SETUP.tools),
  mockTools: z._default(z.array(mockToolSchema), []),
  mcpTools: z._default(z.array(mcpToolSchema), []),
  parser: z._default(text, DEFAULT_SETUP.parser),
  thinking: z._default(flag, DEFAULT_SETUP.thinking),
  templateOptions: z._default(text, DEFAULT_SETUP.templateOptions),
  sampling: z.prefault(textsSchema(DEFAULT_SETUP.sampling), {}),
  limits: z.prefault(textsSchema(DEFAULT_SETUP.limits), {}),
  samples: z._default(text, DEFAULT_SETUP.samples),
  routedExperts: z._default(flag, DEFAULT_SETUP.routedExperts),
  adapter: z._default(text, DEFAULT_SETUP.adapter),
  reward: z.prefault(z.readonly(rewardSchema), {}),
  topLogprobs: z._default(text, DEFAULT_SETUP.topLogprobs),
  promptLogprobs: z._default(flag, DEFAULT_SETUP.promptLogprobs),
  stream: z._default(flag, DEFAULT_SETUP.stream),
} satisfies Readonly<Record<keyof Setup, z.ZodMiniType>>)

/** Reads a setup that an earlier version may have remembered. A field that cannot be read gets its default. */
export function setupFrom(remembered: unknown): Setup {
  const { data, error } = setupSchema.safeParse(remembered)
  if (data) return data
  const unreadable = new Set(error.issues.map(({ path: [field] }) => field))
  const rest = Object.entries(Object(remembered)).filter(([field]) => !unreadable.has(field))
  return setupSchema.parse(Object.fromEntries(rest))
}
