/** Reads requests of Anthropic messages. */
import * as z from 'zod/mini'
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { parseWritten } from '#lib/json/written-json.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { Message } from '#lib/trajectory/format/trajectory.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { SessionCall, ToolChoice } from '../call.ts'
import {
  callMetadata,
  checkedBody,
  checkedChoice,
  checkedTools,
  maybe,
  messagesIn,
  parametersSchema,
  sampled,
  samplingOf,
  structureOfText,
  templateArguments,
  type UnreadFields,
  unread,
} from './fields.ts'

/** Fields of Anthropic messages that are not read. */
export const MESSAGES_UNREAD: UnreadFields = {
  ignored: {
    cache_control: 'the prefix cache keeps every prompt',
    context_management: 'the client’s history is taken as it is',
    inference_geo: 'there is one server',
    service_tier: 'there is one tier',
    user_profile_id: 'nothing is reported about users',
  },
  refused: {
    container: 'sessions run no code. Send a function tool',
    mcp_servers: 'sessions call no tools. Let the client call them',
    output_format: 'it is the old form of output_config.format. Use that',
  },
}

const cacheControl = { cache_control: unread }
const textBlock = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  citations: unread,
  parsed_output: unread,
  ...cacheControl,
})
const imageBlock = z.strictObject({
  type: z.literal('image'),
  source: z.strictObject({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
  ...cacheControl,
})
const resultBlock = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: z.string(),
  content: z.optional(z.union([z.string(), z.array(z.discriminatedUnion('type', [textBlock, imageBlock]))])),
  // Chat templates have no flag for errors; the text of the result says what failed.
  is_error: unread,
  ...cacheControl,
})
const thinkingBlock = z.strictObject({
  type: z.literal('thinking'),
  thinking: z.string(),
  // The signature proves to Anthropic that the text is its own; here the session knows it by its tokens.
  signature: unread,
  ...cacheControl,
})
const callBlock = z.strictObject({
  type: z.literal('tool_use'),
  id: z.string(),
  name: z.string(),
  input: z.unknown(),
  caller: unread,
  ...cacheControl,
})

const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textBlock, imageBlock, resultBlock]))]),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([z.string(), z.array(z.discriminatedUnion('type', [textBlock, thinkingBlock, callBlock]))]),
  }),
  z.strictObject({ role: z.literal('system'), content: z.union([z.string(), z.array(textBlock)]) }),
])

type Turn = z.infer<typeof message>

const tool = z.strictObject({
  type: maybe(z.literal('custom')),
  name: z.string().check(z.minLength(1)),
  description: z.optional(z.string()),
  input_schema: parametersSchema,
  // The client's own rules, and hints for Anthropic's servers.
  strict: unread,
  eager_input_streaming: unread,
  defer_loading: maybe(
    z.boolean().check(
      z.refine((isDeferred) => !isDeferred, {
        error: 'false: the model reads all tools at the beginning. In Claude Code, set ENABLE_TOOL_SEARCH to false',
      }),
    ),
  ),
  ...cacheControl,
})

const parallel = { disable_parallel_tool_use: maybe(z.boolean()) }
const toolChoice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto'), ...parallel }),
  z.strictObject({ type: z.literal('any'), ...parallel }),
  z.strictObject({ type: z.literal('tool'), name: z.string(), ...parallel }),
  z.strictObject({ type: z.literal('none') }),
])

const schema = z.strictObject({
  model: z.string(),
  messages: z.array(message).check(z.minLength(1)),
  max_tokens: z.unknown().check(z.refine(isCount, { error: 'a whole number from 1 to 1,000,000' })),
  system: maybe(z.union([z.string(), z.array(textBlock)])),
  tools: maybe(z.array(tool)),
  tool_choice: maybe(toolChoice),
  temperature: sampled('temperature'),
  top_p: sampled('top_p'),
  top_k: sampled('top_k'),
  stop_sequences: maybe(z.array(z.string().check(z.minLength(1))).check(z.maxLength(32))),
  stream: maybe(z.boolean()),
  thinking: maybe(
    z.discriminatedUnion('type', [
      // Templates have no budget: max_tokens limits thinking and answer together.
      z.strictObject({ type: z.literal('enabled'), budget_tokens: unread, display: unread }),
      z.strictObject({ type: z.literal('adaptive'), display: unread }),
      z.strictObject({ type: z.literal('disabled') }),
    ]),
  ),
  output_config: maybe(
    z.strictObject({
      effort: maybe(z.string()),
      format: maybe(z.strictObject({ type: z.literal('json_schema'), schema: parametersSchema })),
    }),
  ),
  metadata: maybe(z.record(z.string(), z.unknown())),
  chat_template_kwargs: maybe(z.record(z.string(), z.unknown())),
})

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1_000_000
}

/**
 * Reads the body of a request to /v1/messages. Throws CallRefusal. The arguments of calls are objects of the body, so their numbers
 * have the spelling of its text.
 */
export function readMessagesCall(body: unknown, text: string): SessionCall {
  const read = checkedBody(body, schema, MESSAGES_UNREAD)
  const tools = checkedTools((read.tools ?? []).map(toolOf))
  const choice = checkedChoice(choiceOf(read.tool_choice), tools)
  const format = read.output_config?.format
  return {
    protocol: 'messages',
    model: read.model,
    messages: [...systemMessages(read.system), ...withWrittenInputs(read.messages, text).flatMap(messagesOf)],
    tools,
    toolChoice: choice,
    parallelToolCalls: !(read.tool_choice && 'disable_parallel_tool_use' in read.tool_choice
      ? read.tool_choice.disable_parallel_tool_use
      : false),
    sampling: samplingOf({
      max_new_tokens: read.max_tokens,
      temperature: read.temperature,
      top_p: read.top_p,
      top_k: read.top_k,
      stop: read.stop_sequences?.length ? read.stop_sequences : undefined,
    }),
    structured: structureOfText(format ? { kind: 'schema', schema: format.schema } : undefined, choice),
    n: 1,
    logprobs: undefined,
    stream: read.stream ?? false,
    includeUsage: true,
    templateArguments: templateArguments(read.output_config?.effort, {
      ...(read.thinking && { enable_thinking: read.thinking.type !== 'disabled' }),
      ...read.chat_template_kwargs,
    }),
    metadata: callMetadata(read.metadata, undefined),
    body: body as SessionCall['body'],
  }
}

/** Blocks of a system prompt are paragraphs of one message. */
function systemMessages(system: string | readonly { readonly text: string }[] | null | undefined): readonly Message[] {
  const text = typeof system === 'string' ? system : (system ?? []).map((block) => block.text).join('\n')
  return text === '' ? [] : [{ role: 'system', content: text }]
}

/** Returns turns whose calls have their arguments as JSON texts, in which the numbers are as the body's text has them. */
function withWrittenInputs(turns: readonly Turn[], text: string): readonly Turn[] {
  if (!turns.some(({ content }) => typeof content !== 'string' && content.some(isCall))) return turns
  const written = parseWritten(text) as { readonly messages: readonly { readonly content: readonly JsonObject[] }[] }
  return turns.map((turn, index) => {
    if (turn.role !== 'assistant' || typeof turn.content === 'string') return turn
    const content = turn.content.map((block, place) =>
      isCall(block)
        ? { ...block, input: JSON.stringify(elementAt(elementAt(written.messages, index).content, place).input) }
        : block,
    )
    return { ...turn, content }
  })
}

const isCall = (block: { readonly type: string; readonly input?: unknown }): boolean =>
  block.type === 'tool_use' && isObject(block.input)

/** Returns the messages of a turn in the order of its blocks: each tool result is a message, and so are the texts between results. */
function messagesOf(turn: Turn): readonly Message[] {
  if (turn.role === 'system') return systemMessages(turn.content)
  if (turn.role === 'assistant' || typeof turn.content === 'string') return messagesIn(turn)
  const groups: JsonObject[][] = []
  for (const block of turn.content) {
    const last = groups.at(-1)
    const isResult = block.type === 'tool_result'
    if (last && !isResult && last.at(-1)?.type !== 'tool_result') last.push(block)
    else groups.push([block])
  }
  return groups.flatMap((content) => messagesIn({ role: 'user', content }))
}

const toolOf = ({ name, description, input_schema }: z.infer<typeof tool>): ToolSpec => ({
  name,
  ...(description !== undefined && { description }),
  inputSchema: input_schema,
})

function choiceOf(choice: z.infer<typeof toolChoice> | null | undefined): ToolChoice {
  switch (choice?.type) {
    case 'tool':
      return { name: choice.name }
    case 'any':
      return 'required'
    case 'none':
      return 'none'
    default:
      return 'auto'
  }
}
