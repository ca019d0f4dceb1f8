/** Defines the form of the playground with its values as typed. Every visit of the playground loads this file, so it has no schema. */
import type { McpToolName } from '#lib/api/mcp-server.ts'
import { SERVER_TOKENIZER } from '#lib/api/server-tokenizer.ts'
import { DEFAULT_SAMPLING_TEXTS, type SamplingTexts } from '#lib/sampling/fields.ts'
import type { MockTool } from '#lib/tools/mock-tool.ts'
import type { RewardRule } from '#lib/trajectory/reward/rule.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Values of the playground's form, as typed. */
export type Setup = Readonly<{
  /** Name of the server; '' is the default server. */
  server: string
  /** Names of other servers that run the first prompt beside `server`. With some, `server` is a name. */
  furtherServers: readonly string[]
  /** generate: token-in/token-out. chat: the chat baseline, which sends messages. */
  endpoint: 'generate' | 'chat'
  /** Name of the tokenizer; '' is the one that the server names, SERVER_TOKENIZER the server's own over HTTP. */
  tokenizer: string
  /** Text of the chat template; '' is the tokenizer's own. */
  chatTemplate: string
  system: string
  /** Names of the tools of a run. A name is that of a mock tool, otherwise of an MCP tool, otherwise of a built-in tool. */
  tools: readonly string[]
  mockTools: readonly MockTool[]
  /** Tools of MCP servers that can be chosen for runs. */
  mcpTools: readonly McpToolName[]
  /** Name of the tool parser; '' is the one that the server names. */
  parser: string
  thinking: boolean
  /** Further template options as a JSON object. */
  templateOptions: string
  /** Sampling parameters by their names in SGLang. */
  sampling: SamplingTexts
  limits: Readonly<Record<LimitField, string>>
  /** Number of samples of one prompt that run at once. */
  samples: string
  /** Whether to record the experts of a mixture of experts. */
  routedExperts: boolean
  /** Name of the LoRA adapter; '' is none. */
  adapter: string
  reward: RewardDraft
  topLogprobs: string
  promptLogprobs: boolean
  stream: boolean
}>

/** Fields of a reward rule. Fields that a kind does not use are remembered for the other kinds. */
export interface RewardDraft {
  readonly kind: 'none' | RewardRule['kind']
  readonly expected: string
  /** Regular expression of JavaScript. */
  readonly pattern: string
  /** Tolerance of a number; '' is none. */
  readonly tolerance: string
  readonly ignoreCase: boolean
}

/** Values of the form before anything is typed; setup-schema.ts puts them in the place of missing fields. */
export const DEFAULT_SETUP: Setup = {
  server: '',
  furtherServers: [],
  endpoint: 'generate',
  tokenizer: '',
  chatTemplate: '',
  system: 'You are a helpful assistant.',
  tools: ['calculator'],
  mockTools: [],
  mcpTools: [],
  parser: '',
  thinking: true,
  templateOptions: '',
  sampling: DEFAULT_SAMPLING_TEXTS,
  limits: {
    maxToolIterations: '5',
    maxToolCalls: '',
    maxParallelToolCalls: '',
    maxMessages: '',
    maxTokens: '4096',
    contextWindow: '',
    toolTimeoutMs: '',
    maxResultCharacters: '',
  },
  samples: '1',
  routedExperts: false,
  adapter: '',
  reward: { kind: 'none', expected: '', pattern: '', tolerance: '', ignoreCase: false },
  topLogprobs: '5',
  promptLogprobs: false,
  stream: true,
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
export const RANGES = {
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
} satisfies Readonly<Record<string, NumberRange>>

/** Name of a limit. */
export type LimitField = Exclude<keyof typeof RANGES, 'topLogprobs' | 'samples'>

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
