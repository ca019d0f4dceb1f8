/**
 * Checks the body of /v1/chat/completions: the JSON types of its fields, then their values as SGLang does. Features that the built-in model
 * lacks are refused, never ignored.
 */

import { generateSamplingSchema, type SamplingParams } from '#lib/builtin-server/generate/sampling-params.ts'
import {
  BOOLEAN,
  fieldsOf,
  LIST,
  listField,
  MAP,
  type StreamRequest,
  streamRequest,
  TEXT,
  WHOLE,
} from '#lib/builtin-server/http/body-fields.ts'
import { checkFields, isText } from '#lib/builtin-server/http/json-body.ts'
import { badBody, HttpRefusal } from '#lib/builtin-server/http/refusal.ts'
import type { ReasoningRule } from '#lib/builtin-server/messages/chat-message.ts'
import type { ServedParsers } from '#lib/builtin-server/messages/served-parsers.ts'
import { type AnnouncedTool, toolSpecs } from '#lib/builtin-server/messages/tool-specs.ts'
import { isObject } from '#lib/json/json-object.ts'
import { grammarFields } from './grammar-fields.ts'
import { samplerFields } from './sampler-fields.ts'

/** The body after its checks. */
export interface ChatBody {
  readonly model: string
  readonly tools: readonly AnnouncedTool[]
  /** The tools that the prompt describes to the model. */
  readonly announced: readonly AnnouncedTool[]
  /** A reply must begin with a call of one of these tools; empty: any text. */
  readonly mustCall: readonly AnnouncedTool[]
  /** Whether calls are read from the model's text. */
  readonly readsCalls: boolean
  /** The parameters in SGLang's own names; without max_new_tokens, a reply may use the rest of the context. */
  readonly sampling: SamplingParams
  /** Number of replies. */
  readonly count: number
  readonly stream: StreamRequest | undefined
  readonly returnsLogprobs: boolean
  readonly topLogprobs: number
  readonly returns: Returns
  readonly templateOptions: Readonly<Record<string, unknown>>
  /** Whether thinking is on in the template. */
  readonly thinks: boolean
  readonly reasoning: ReasoningRule
  /** Whether reasoning is streamed as it is written instead of in one piece. */
  readonly streamsReasoning: boolean
  /** Ids of the prompt instead of the messages' own. */
  readonly inputIds: readonly number[] | undefined
  readonly rid: string | undefined
}

/** Fields that SGLang adds to an answer of OpenAI's form. */
interface Returns {
  readonly promptIds: boolean
  readonly replyIds: boolean
  readonly metaInfo: boolean
  /** The next two are beside the choices, in `sglext`: the only ids that SGLang streams. */
  readonly extensionInputIds: boolean
  readonly extensionOutputIds: boolean
}

/** Returns the names of the tools whose calls are read; undefined: no calls are read. */
export const calledTools = ({ readsCalls, tools }: ChatBody): readonly string[] | undefined =>
  readsCalls ? tools.map(({ name }) => name) : undefined

/** Returns the checked body. Throws HttpRefusal. */
export function readChatBody(
  body: Readonly<Record<string, unknown>>,
  contextLength: number,
  parsers: ServedParsers,
): ChatBody {
  const field = fieldsOf(body)
  const messages = field('messages', LIST)
  if (!messages) throw badBody('missing', ['messages'], 'Field required')
  const tools = toolSpecs(field('tools', LIST))
  const stream = streamRequest(body)
  const flag = (name: string): boolean => field(name, BOOLEAN) ?? false
  const replyIds = flag('return_token_ids')
  const returns: Returns = {
    promptIds: flag('return_prompt_token_ids') || replyIds,
    replyIds,
    metaInfo: flag('return_meta_info'),
    extensionInputIds: flag('return_input_ids_in_sglext'),
    extensionOutputIds: flag('return_output_ids_in_sglext'),
  }
  const count = field('n', WHOLE) ?? 1
  const maxTokens = maxTokensOf(field)
  const sampling = checkFields(generateSamplingSchema, {
    max_new_tokens: maxTokens,
    ...samplerFields(field, body),
    n: count,
    ...grammarFields(body),
  })
  const templateOptions = field('chat_template_kwargs', MAP) ?? {}
  const thinks = parsers.reasoning !== undefined && templateOptions.enable_thinking !== false
  const { announced, mustCall } = toolChoice(body.tool_choice, tools)
  const usesTools = announced.length > 0
  const separates = parsers.reasoning !== undefined && (field('separate_reasoning', BOOLEAN) ?? true)
  // The order of the checks is SGLang's.
  if (messages.length === 0) throw chatRefusal('Messages cannot be empty.')
  if (maxTokens !== undefined && maxTokens > contextLength)
    throw chatRefusal(
      `max_completion_tokens is too large: ${maxTokens}.This model supports at most ${contextLength} completion tokens.`,
    )
  if (stream) refuseStreamed(returns)
  const unsupported = UNSUPPORTED.find((name) => (body[name] ?? false) !== false)
  if (mustCall.length > 0) checkMustCall(sampling, parsers)
  if (unsupported) throw chatRefusal(`${unsupported} is set, but the built-in server does not support it.`)
  return {
    model: field('model', TEXT) ?? 'default',
    tools,
    announced,
    mustCall,
    readsCalls: usesTools && parsers.toolCalls !== undefined,
    // Calls are read from the text, so their delimiters must be in it.
    sampling: { ...sampling, skip_special_tokens: !usesTools && (field('skip_special_tokens', BOOLEAN) ?? true) },
    count: Math.max(1, count),
    stream,
    returnsLogprobs: flag('logprobs'),
    topLogprobs: field('top_logprobs', WHOLE) ?? 0,
    returns,
    templateOptions,
    thinks,
    reasoning: !separates ? 'kept' : thinks ? 'begun' : 'possible',
    streamsReasoning: field('stream_reasoning', BOOLEAN) ?? true,
    inputIds: listField(body, 'input_ids', WHOLE),
    rid: field('rid', TEXT),
  }
}

/** Returns the token limit. SGLang takes 0 for no limit, but a client that requests no tokens does not want the whole context filled. */
function maxTokensOf(field: ReturnType<typeof fieldsOf>): number | undefined {
  const name = field('max_completion_tokens', WHOLE) === undefined ? 'max_tokens' : 'max_completion_tokens'
  const maxTokens = field(name, WHOLE)
  if (maxTokens === 0) throw badBody('value_error', [name], `Value error, ${name} must be positive`)
  return maxTokens
}

const UNSUPPORTED = [
  'lora_path',
  'session_params',
  'custom_logit_processor',
  'continue_final_message',
  'return_hidden_states',
  'return_routed_experts',
  'return_sampling_mask',
] as const

/** Throws HttpRefusal for fields that SGLang does not stream. */
function refuseStreamed({ promptIds, replyIds, metaInfo }: Returns): void {
  const unsupportedField = (name: string, where = ''): HttpRefusal =>
    new HttpRefusal(
      'messages',
      `${name} is not supported with streaming${where}. Please set stream=false when using ${name}=true.`,
    )
  if (replyIds) throw unsupportedField('return_token_ids', ' on /v1/chat/completions')
  if (promptIds) throw unsupportedField('return_prompt_token_ids')
  if (metaInfo) throw unsupportedField('return_meta_info')
}

const chatRefusal = (message: string): HttpRefusal => new HttpRefusal('chat', message)

type ToolChoice = Pick<ChatBody, 'announced' | 'mustCall'>

function toolChoice(choice: unknown, tools: readonly AnnouncedTool[]): ToolChoice {
  if (choice === 'none') return { announced: [], mustCall: [] }
  if (choice === undefined || choice === null || choice === 'auto') return { announced: tools, mustCall: [] }
  const name = isObject(choice) && isObject(choice.function) ? choice.function.name : undefined
  if (choice !== 'required' && !isText(name))
    throw badBody('literal_error', ['tool_choice'], "Input should be 'auto', 'required' or 'none'")
  if (tools.length === 0)
    throw chatRefusal(
      `Tools cannot be empty if tool choice is set to ${choice === 'required' ? 'required' : 'a specific tool'}.`,
    )
  const requiredTools = choice === 'required' ? tools : tools.filter((tool) => tool.name === name)
  if (requiredTools.length === 0) throw chatRefusal(`Tool '${name}' not found in tools list.`)
  return { announced: requiredTools, mustCall: requiredTools }
}

/** Throws HttpRefusal if a forced call conflicts with a grammar, or if the model has no known form of calls. */
function checkMustCall({ regex, ebnf, json_schema }: SamplingParams, { toolCalls }: ServedParsers): void {
  if ((regex ?? ebnf ?? json_schema) !== undefined)
    throw new HttpRefusal(
      'messages',
      "tool_choice 'required' or a named tool cannot be combined with response_format, regex, or ebnf: the tool-call constraint and the output constraint cannot both be honored.",
    )
  if (toolCalls === undefined)
    throw chatRefusal(
      'tool_choice requires a call, but the built-in server does not know this model’s format of calls: use auto or none.',
    )
}
