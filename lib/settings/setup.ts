/** What the playground's form holds, as typed, and the request it means. */
import * as z from 'zod'
import { isObject } from '#lib/core/json-object.ts'
import { mockToolSchema } from '#lib/core/mock-tool.ts'
import { SERVER_TOKENIZER } from '#lib/core/server-tokenizer.ts'
import type { Plain } from '#lib/core/trajectory.ts'
import type { TrajectoryView } from '#lib/core/trajectory-view.ts'

/** As it is remembered in the browser and written into settings files. What is missing there is as it is at first. */
export const setupSchema = z.object({
  /** '' = the default server. */
  server: z.string().default(''),
  /** '' = what the server says; SERVER_TOKENIZER = its own. */
  tokenizer: z.string().default(''),
  /** '' = the tokenizer's. */
  chatTemplate: z.string().default(''),
  system: z.string().default('You are a helpful assistant.'),
  /** Names of those that a run is given: a mock tool's, else a built-in one's. */
  tools: z.array(z.string()).readonly().default(['calculator']),
  mockTools: z.array(mockToolSchema).default([]),
  /** '' = as the server says. */
  parser: z.string().default(''),
  thinking: z.boolean().default(true),
  /** Further template options, JSON. */
  templateOptions: z.string().default(''),
  sampling: z
    .object({
      temperature: z.string().default('0.7'),
      top_p: z.string().default('1'),
      top_k: z.string().default(''),
      min_p: z.string().default(''),
      max_new_tokens: z.string().default('512'),
      sampling_seed: z.string().default(''),
      stop: z.string().default(''),
    })
    .readonly()
    .prefault({}),
  limits: z
    .object({
      maxToolIterations: z.string().default('5'),
      maxToolCalls: z.string().default(''),
      maxParallelToolCalls: z.string().default(''),
      maxMessages: z.string().default(''),
      maxTokens: z.string().default('4096'),
      toolTimeoutMs: z.string().default(''),
    })
    .readonly()
    .prefault({}),
  topLogprobs: z.string().default('5'),
  promptLogprobs: z.boolean().default(true),
  stream: z.boolean().default(true),
})
export type Setup = Plain<z.infer<typeof setupSchema>>

export type SamplingField = keyof Setup['sampling']
export type LimitField = keyof Setup['limits']

export const DEFAULT_SETUP: Setup = setupSchema.parse({})

/** A setup remembered by an earlier version: a field that cannot be read is as it is at first. */
export function setupFrom(remembered: unknown): Setup {
  const { data, error } = setupSchema.safeParse(remembered)
  if (data) return data
  const unreadable = new Set(error.issues.map(({ path: [field] }) => field))
  const rest = Object.entries(Object(remembered)).filter(([field]) => !unreadable.has(field))
  return setupSchema.parse(Object.fromEntries(rest))
}

/** A question that shows what there is to see: two calls, one after the other. */
export const FIRST_QUESTION = 'What is 25 * 17, and then plus 9?'

export interface NumberRange {
  readonly label: string
  readonly explanation: string
  readonly minimum: number
  readonly maximum: number
  readonly isWhole: boolean
  /** Besides the range. */
  readonly also?: number
}

const WHOLE = { isWhole: true, maximum: 1_000_000_000 } as const

/** Of the two limits that end a run. */
const LOOKED_AT_AFTER =
  'Looked at after the calls of a response have run, as in strands-sglang: 0 still runs those of the first.'

export const RANGES: Readonly<Record<Exclude<SamplingField, 'stop'> | LimitField | 'topLogprobs', NumberRange>> = {
  temperature: {
    label: 'temperature',
    explanation: '0 = greedy. Sampled logprobs are after temperature.',
    minimum: 0,
    maximum: 100,
    isWhole: false,
  },
  top_p: {
    label: 'top_p',
    explanation:
      'Keep the likeliest tokens up to this sum of probability. Below 1 the sampled logprobs are not the behaviour policy’s.',
    minimum: 0.000001,
    maximum: 1,
    isWhole: false,
  },
  top_k: { label: 'top_k', explanation: 'Keep this many tokens; empty or −1 = all.', minimum: 1, also: -1, ...WHOLE },
  min_p: {
    label: 'min_p',
    explanation: 'Keep tokens at least this likely, as a share of the likeliest.',
    minimum: 0,
    maximum: 1,
    isWhole: false,
  },
  max_new_tokens: {
    label: 'max_new_tokens',
    explanation: 'Tokens of one response at most.',
    ...WHOLE,
    minimum: 1,
    maximum: 1_000_000,
  },
  sampling_seed: {
    label: 'sampling_seed',
    explanation: 'The same seed gives the same reply; SGLang heeds it only with --enable-deterministic-inference.',
    minimum: 0,
    ...WHOLE,
  },
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
  toolTimeoutMs: {
    label: 'tool timeout, ms',
    explanation: 'Milliseconds of one tool call; one that takes longer gets an error result.',
    ...WHOLE,
    minimum: 1,
    maximum: 3_600_000,
  },
  topLogprobs: {
    label: 'alternatives',
    explanation: 'Likeliest tokens kept at each position.',
    ...WHOLE,
    minimum: 0,
    maximum: 20,
  },
}

export type FieldErrors = Readonly<Record<string, string>>

export type RequestOfSetup =
  | { readonly ok: true; readonly settings: object; readonly opening: object }
  | { readonly ok: false; readonly errors: FieldErrors }

/** `settings` go with every turn; `opening` only with the first, since they are part of the tokens then. */
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
  const { stop, ...numeric } = setup.sampling
  const stops = stop.split('\n').filter((line) => line !== '')
  const sampling = {
    ...numbers(numeric, ['temperature', 'top_p', 'top_k', 'min_p', 'max_new_tokens', 'sampling_seed']),
    ...(stops.length > 0 && { stop: stops }),
  }
  const limits = numbers(setup.limits, [
    'maxToolIterations',
    'maxToolCalls',
    'maxParallelToolCalls',
    'maxMessages',
    'maxTokens',
    'toolTimeoutMs',
  ])
  const topLogprobs = number('topLogprobs', setup.topLogprobs)
  const options = objectOf(setup.templateOptions)
  if (options === undefined) errors.templateOptions = 'must be a JSON object, for example {"date_string": "1 Jan 2026"}'
  if (Object.keys(errors).length > 0) return { ok: false, errors }
  return {
    ok: true,
    settings: {
      sampling,
      limits,
      ...(topLogprobs !== undefined && { topLogprobs }),
      promptLogprobs: setup.promptLogprobs,
      stream: setup.stream,
      ...(setup.server !== '' && { server: setup.server }),
    },
    opening: {
      ...(setup.system.trim() !== '' && { system: setup.system }),
      tools: setup.tools.map((name) => setup.mockTools.find((mock) => mock.name === name) ?? name),
      ...(setup.parser !== '' && { parser: setup.parser }),
      ...(setup.tokenizer.trim() !== '' && { tokenizer: setup.tokenizer.trim() }),
      ...(setup.chatTemplate.trim() !== '' && { chatTemplate: setup.chatTemplate }),
      // Said only when it is off: templates think unless they are told not to, and others do not know the option.
      templateOptions: { ...(setup.thinking ? {} : { enable_thinking: false }), ...options },
    },
  }
}

function numberProblem(text: string, { minimum, maximum, isWhole, also }: NumberRange): string | undefined {
  const value = Number(text)
  if (!Number.isFinite(value)) return 'must be a number'
  if (value === also) return undefined
  if (isWhole && !Number.isInteger(value)) return 'must be a whole number'
  if (value < minimum || value > maximum) return `must be from ${minimum} to ${maximum.toLocaleString('en')}`
  return undefined
}

function objectOf(text: string): object | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** What the first turn fixes: it is in the tokens. */
type Opening = Pick<
  Setup,
  'system' | 'tools' | 'mockTools' | 'parser' | 'thinking' | 'templateOptions' | 'tokenizer' | 'chatTemplate'
>

export function openingOf(setup: Setup): Opening {
  const { system, tools, mockTools, parser, thinking, templateOptions, tokenizer, chatTemplate } = setup
  return { system, tools, mockTools, parser, thinking, templateOptions, tokenizer, chatTemplate }
}

/** The setup with what a trajectory was begun with in place of what the next one would be. */
export function setupOf({ segments, model }: Pick<TrajectoryView, 'segments' | 'model'>, setup: Setup): Setup {
  const [first] = segments
  const system = first?.kind === 'prompt' ? first.messages.find(({ role }) => role === 'system')?.content : undefined
  const { enable_thinking: thinking, ...options } = model.template?.options ?? {}
  return {
    ...setup,
    system: typeof system === 'string' ? system : '',
    tools: model.tools.map(({ name }) => name),
    mockTools: model.tools.flatMap(({ name, description, inputSchema, mock }) =>
      mock ? [{ name, description, inputSchema, mock }] : [],
    ),
    parser: model.parser ?? '',
    thinking: thinking !== false,
    templateOptions: Object.keys(options).length > 0 ? JSON.stringify(options) : '',
    tokenizer: model.tokenizer?.source === 'server' ? SERVER_TOKENIZER : (model.tokenizer?.name ?? ''),
    chatTemplate: '',
  }
}
