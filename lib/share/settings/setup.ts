/** Defines the form of the playground with its values as typed, and the request that it describes. */
import * as z from 'zod/mini'
import { mcpToolSchema } from '#lib/api/mcp-server.ts'
import type { RunOpening, RunSettings } from '#lib/api/run-request.ts'
import { SERVER_TOKENIZER } from '#lib/api/server-tokenizer.ts'
import { objectOf } from '#lib/json/json-object.ts'
import { parseSamplingTexts, samplingTextsSchema } from '#lib/sampling/fields.ts'
import { mockToolSchema } from '#lib/tools/mock-tool.ts'
import type { RewardRule } from '#lib/trajectory/reward/rule.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Plain } from '#lib/util/plain.ts'
import { rewardDraftSchema, rewardRuleOf } from './reward-draft.ts'

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
/** Values of the playground's form, as typed. */
export type Setup = Plain<z.infer<typeof setupSchema>>

/** Name of a limit. */
export type LimitField = keyof Setup['limits']

/** Values of the form before anything is typed. */
export const DEFAULT_SETUP: Setup = setupSchema.parse({})

/** Reads a setup that an earlier version may have remembered. A field that cannot be read gets its default. */
export function setupFrom(remembered: unknown): Setup {
  const { data, error } = setupSchema.safeParse(remembered)
  if (data) return data
  const unreadable = new Set(error.issues.map(({ path: [field] }) => field))
  const rest = Object.entries(Object(remembered)).filter(([field]) => !unreadable.has(field))
  return setupSchema.parse(Object.fromEntries(rest))
}

/** First question of a new playground. It leads to two consecutive calls. */
export const FIRST_QUESTION = 'What is 25 * 17, and then plus 9?'

/** Label, explanation and limits of a number field. */
export interface NumberRange {
  readonly label: string
  readonly explanation: string
  readonly minimum: number
  readonly maximum: number
  readonly isWhole: boolean
}

const WHOLE = { isWhole: true, maximum: 1_000_000_000 } as const

/** Part of the explanations of the two limits that end a run. */
const LOOKED_AT_AFTER =
  'Checked after the calls of a response have run, as in strands-sglang: with 0, the calls of the first response still run.'

/** Number fields of the form. */
export const RANGES: Readonly<Record<LimitField | 'topLogprobs' | 'samples', NumberRange>> = {
  maxToolIterations: {
    label: 'tool iterations',
    explanation: `Responses with tool calls in one run. ${LOOKED_AT_AFTER}`,
    minimum: 0,
    ...WHOLE,
  },
  maxToolCalls: { label: 'tool calls', explanation: `Tool calls in one run. ${LOOKED_AT_AFTER}`, minimum: 0, ...WHOLE },
  maxParallelToolCalls: {
    label: 'parallel calls',
    explanation: 'Tool calls in one response that are executed; the others are refused.',
    minimum: 1,
    ...WHOLE,
  },
  maxMessages: { label: 'messages', explanation: 'Messages in one run.', minimum: 1, ...WHOLE },
  maxTokens: { label: 'tokens', explanation: 'Tokens of the whole trajectory.', minimum: 1, ...WHOLE },
  contextWindow: {
    label: 'context window',
    explanation:
      'Tokens of one request and its response. max_new_tokens is lowered to the remaining tokens; a request without remaining tokens is not sent. Empty: the context length that the server reports.',
    minimum: 1,
    ...WHOLE,
  },
  toolTimeoutMs: {
    label: 'tool timeout, ms',
    explanation: 'Milliseconds of one tool call. A call that takes longer gets an error result.',
    ...WHOLE,
    minimum: 1,
    maximum: 3_600_000,
  },
  samples: {
    label: 'samples',
    explanation: 'Number of runs of this prompt at once, on a shared prefix.',
    ...WHOLE,
    minimum: 1,
    maximum: 64,
  },
  maxResultCharacters: {
    label: 'result characters',
    explanation:
      'Characters of a tool result that the model reads. The middle of a longer result is left out, and the result says how much. Empty: results are never cut.',
    ...WHOLE,
    minimum: 100,
  },
  topLogprobs: {
    label: 'alternatives',
    explanation: 'Number of most likely tokens to record at each position.',
    ...WHOLE,
    minimum: 0,
    maximum: 20,
  },
}

/** Error messages by the name of the field. */
export type FieldErrors = Readonly<Record<string, string>>

/** The request that a setup describes, or the errors of its fields. */
export type RequestOfSetup =
  | {
      readonly ok: true
      readonly settings: RunSettings
      readonly opening: RunOpening
      /** Number of samples, from 1. Several samples are a group. */
      readonly samples: number
      /** Names of all servers that run side by side. Omitted: the server of `settings` runs alone. */
      readonly servers?: readonly string[]
      /** Reward rule. Omitted: none. */
      readonly reward?: RewardRule
    }
  | { readonly ok: false; readonly errors: FieldErrors }

/**
 * Returns the request of a setup. `settings` are sent with every turn; `opening`, `samples`, `servers` and `reward` only with the first
 * one.
 */
export function requestOf(setup: Setup): RequestOfSetup {
  const errors: Record<string, string> = {}
  const number = (field: keyof typeof RANGES, text: string): number | undefined => {
    if (text.trim() === '') return undefined
    const problem = numberProblem(text, RANGES[field])
    if (problem) errors[field] = problem
    return Number(text)
  }
  const numbers = <T extends keyof typeof RANGES>(fields: Readonly<Record<T, string>>, names: readonly T[]) =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = number(name, fields[name])
        return value === undefined ? [] : [[name, value]]
      }),
    )
  const { sampling, errors: samplingErrors } = parseSamplingTexts(setup.sampling)
  Object.assign(errors, samplingErrors)
  const limits = numbers(setup.limits, [
    'maxToolIterations',
    'maxToolCalls',
    'maxParallelToolCalls',
    'maxMessages',
    'maxTokens',
    'contextWindow',
    'toolTimeoutMs',
    'maxResultCharacters',
  ])
  const topLogprobs = number('topLogprobs', setup.topLogprobs)
  const samples = number('samples', setup.samples) ?? 1
  const reward = rewardRuleOf(setup.reward)
  if (typeof reward === 'string') errors.reward = reward
  const servers = [...new Set([setup.server, ...setup.furtherServers])]
  if (servers.length > 1 && servers.includes(''))
    errors.furtherServers = 'need a server that is chosen by name, not the default one'
  const options = objectOf(setup.templateOptions)
  if (options === undefined) errors.templateOptions = 'must be a JSON object, for example {"date_string": "1 Jan 2026"}'
  if (Object.keys(errors).length > 0 || typeof reward === 'string') return { ok: false, errors }
  return {
    ok: true,
    samples,
    ...(servers.length > 1 && { servers }),
    ...(reward && { reward }),
    settings: {
      sampling,
      limits,
      ...(topLogprobs !== undefined && { topLogprobs }),
      promptLogprobs: setup.promptLogprobs,
      stream: setup.stream,
      ...(setup.routedExperts && setup.endpoint === 'generate' && { routedExperts: true }),
      ...(setup.adapter.trim() !== '' && { adapter: setup.adapter.trim() }),
      ...(setup.server !== '' && { server: setup.server }),
    },
    opening: {
      ...(setup.system.trim() !== '' && { system: setup.system }),
      tools: setup.tools.map(
        (name) => [...setup.mockTools, ...setup.mcpTools].find((tool) => tool.name === name) ?? name,
      ),
      ...(setup.parser !== '' && { parser: setup.parser }),
      ...(setup.tokenizer.trim() !== '' && { tokenizer: setup.tokenizer.trim() }),
      // For a chat endpoint the server renders with its own template.
      ...(setup.endpoint === 'chat'
        ? { endpoint: 'chat' }
        : setup.chatTemplate.trim() !== '' && { chatTemplate: setup.chatTemplate }),
      // The option is sent only when it is off. Templates think by default, and some do not know the option.
      templateOptions: { ...(setup.thinking ? {} : { enable_thinking: false }), ...options },
    },
  }
}

function numberProblem(text: string, { minimum, maximum, isWhole }: NumberRange): string | undefined {
  const value = Number(text)
  if (!Number.isFinite(value)) return 'must be a number'
  if (isWhole && !Number.isInteger(value)) return 'must be a whole number'
  if (value < minimum || value > maximum) return `must be from ${minimum} to ${maximum.toLocaleString('en')}`
  return undefined
}

/** Fields that the first turn fixes, because they are in the tokens. */
type Opening = Pick<
  Setup,
  | 'endpoint'
  | 'system'
  | 'tools'
  | 'mockTools'
  | 'mcpTools'
  | 'parser'
  | 'thinking'
  | 'templateOptions'
  | 'tokenizer'
  | 'chatTemplate'
>

/** Returns the fields of a setup that the first turn fixes. */
export function openingOf(setup: Setup): Opening {
  const { endpoint, system, tools, mockTools, mcpTools, parser, thinking, templateOptions, tokenizer, chatTemplate } =
    setup
  return { endpoint, system, tools, mockTools, mcpTools, parser, thinking, templateOptions, tokenizer, chatTemplate }
}

/** Returns the setup with the fields that the first turn of a trajectory fixed taken from the trajectory. */
export function setupOf(
  { segments, model, provenance }: Pick<TrajectoryView, 'segments' | 'model' | 'provenance'>,
  setup: Setup,
): Setup {
  const [first] = segments
  const system = first?.kind === 'prompt' ? first.messages.find(({ role }) => role === 'system')?.content : undefined
  const { enable_thinking: thinking, ...options } = model.template?.options ?? {}
  return {
    ...setup,
    endpoint: provenance.kind === 'rollout' && provenance.endpoint === 'chat' ? 'chat' : 'generate',
    system: typeof system === 'string' ? system : '',
    tools: model.tools.map(({ name }) => name),
    mockTools: model.tools.flatMap(({ name, description, inputSchema, mock }) =>
      mock ? [{ name, description, inputSchema, mock }] : [],
    ),
    mcpTools: model.tools.flatMap(({ name, mcp }) => (mcp ? [{ mcp: mcp.server, name }] : [])),
    parser: model.parser ?? '',
    thinking: thinking !== false,
    templateOptions: Object.keys(options).length > 0 ? JSON.stringify(options) : '',
    tokenizer: model.tokenizer?.source === 'server' ? SERVER_TOKENIZER : (model.tokenizer?.name ?? ''),
    chatTemplate: '',
  }
}
