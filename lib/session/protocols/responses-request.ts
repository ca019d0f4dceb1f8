/** Reads requests of OpenAI responses. The whole history is in the input: a session finds what it already has by itself. */
import * as z from 'zod/mini'
import { messagesOfItems } from '#lib/trajectory/messages/response-items.ts'
import type { SessionCall, StructuredOutput, ToolChoice } from '../call.ts'
import {
  absent,
  callMetadata,
  checkedBody,
  checkedChoice,
  checkedTools,
  functionFields,
  functionTool,
  imageUrl,
  maybe,
  messagesIn,
  outputBySchema,
  replySchemaFields,
  sampled,
  samplingOf,
  structureOfText,
  templateArguments,
  type UnreadFields,
  unread,
} from './fields.ts'
import { MOST_LOGPROBS } from './logprobs.ts'

/** Fields of responses that are not read. */
export const RESPONSES_UNREAD: UnreadFields = {
  ignored: {
    client_metadata: 'the session records the whole request',
    moderation: 'nothing is moderated here',
    prompt_cache_key: 'a session is its own cache key',
    prompt_cache_options: 'the prefix cache needs no options',
    prompt_cache_retention: 'the prefix cache of the server decides',
    safety_identifier: 'nothing is reported about users',
    service_tier: 'there is one tier',
    store: 'sessions are always stored',
  },
  refused: {
    background: 'a session answers while the client waits',
    context_management: 'a session shortens no history. Shorten it in the client',
    conversation: 'the whole history must be in input',
    max_tool_calls: 'sessions call no tools',
    previous_response_id: 'the whole history must be in input. In the OpenAI SDK, append response.output to input',
    prompt: 'sessions have no stored prompts. Send instructions and input',
  },
}

const detail = { detail: unread }
const textPart = z.strictObject({
  type: z.literal(['input_text', 'output_text']),
  text: z.string(),
  parsed: unread,
  annotations: unread,
  logprobs: unread,
})
const imagePart = z.strictObject({
  type: z.literal('input_image'),
  image_url: imageUrl,
  file_id: absent('sessions store no files. Send image_url with a data URL'),
  ...detail,
})
const content = z.union([z.string(), z.array(z.discriminatedUnion('type', [textPart, imagePart]))])

/** Fields that the client copies from a reply. */
const COPIED = { id: unread, status: unread, phase: unread }
const itemMessage = z.strictObject({
  type: z.optional(z.literal('message')),
  role: z.literal(['user', 'assistant', 'system', 'developer']),
  content,
  ...COPIED,
})
const callItem = z.strictObject({
  type: z.literal('function_call'),
  call_id: z.string(),
  name: z.string(),
  arguments: z.string(),
  namespace: absent('tools have no namespaces'),
  parsed_arguments: unread,
  caller: unread,
  ...COPIED,
})
const resultItem = z.strictObject({
  type: z.literal('function_call_output'),
  call_id: z.string(),
  output: content,
  caller: unread,
  ...COPIED,
})
const reasoningItem = z.strictObject({
  type: z.literal('reasoning'),
  summary: z.optional(z.array(z.strictObject({ type: z.literal('summary_text'), text: z.string() }))),
  content: maybe(z.array(z.strictObject({ type: z.literal(['reasoning_text', 'text']), text: z.string() }))),
  // Reasoning is returned as text, so that nothing is encrypted.
  encrypted_content: unread,
  ...COPIED,
})
const referenceItem = z.strictObject({
  type: z.literal('item_reference'),
  id: absent(
    'the whole history must be in input. In the Vercel AI SDK, set store to false in the options of the provider',
  ),
})
const typedItem = z.discriminatedUnion('type', [
  referenceItem,
  z.extend(itemMessage, { type: z.literal('message') }),
  callItem,
  resultItem,
  reasoningItem,
])
const item = z.union([typedItem, z.extend(itemMessage, { type: z.optional(z.undefined()) })])

const tool = z.strictObject({
  type: z.string().check(
    z.refine((type) => type === 'function', {
      error:
        '"function": sessions have no tools of their own, and no namespaces. In Codex, set web_search to "disabled" and features.multi_agent to false',
    }),
  ),
  ...functionFields,
})

const toolChoice = z.union([
  z.literal(['none', 'auto', 'required']),
  z.strictObject({ type: z.literal('function'), name: z.string() }),
])

const format = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({ type: z.literal('json_schema'), ...replySchemaFields }),
])

const LOGPROBS = 'message.output_text.logprobs'
const INCLUDED: readonly string[] = [LOGPROBS, 'reasoning.encrypted_content']

const schema = z.strictObject({
  model: z.string(),
  input: z.union([z.string(), z.array(item).check(z.minLength(1))]),
  instructions: maybe(z.string()),
  tools: maybe(z.array(tool)),
  tool_choice: maybe(toolChoice),
  parallel_tool_calls: maybe(z.boolean()),
  text: maybe(z.strictObject({ format: maybe(format), verbosity: absent('chat templates have no such variable') })),
  reasoning: maybe(
    z.strictObject({
      effort: maybe(z.string()),
      // Reasoning is returned whole, which contains every summary.
      summary: unread,
      generate_summary: unread,
    }),
  ),
  include: maybe(
    z.array(
      z.string().check(
        z.refine((name) => INCLUDED.includes(name), {
          error: '"message.output_text.logprobs", or "reasoning.encrypted_content" (reasoning is returned as text)',
        }),
      ),
    ),
  ),
  top_logprobs: maybe(z.int().check(z.minimum(0), z.maximum(MOST_LOGPROBS))),
  max_output_tokens: sampled('max_new_tokens'),
  temperature: sampled('temperature'),
  top_p: sampled('top_p'),
  truncation: maybe(
    z.string().check(
      z.refine((value) => value === 'disabled', {
        error: '"disabled": a session shortens no history. Shorten it in the client',
      }),
    ),
  ),
  stream: maybe(z.boolean()),
  stream_options: maybe(z.strictObject({ include_obfuscation: unread })),
  metadata: maybe(z.record(z.string(), z.unknown())),
  user: maybe(z.string()),
  chat_template_kwargs: maybe(z.record(z.string(), z.unknown())),
})

/** Reads the body of a request to /v1/responses. Throws CallRefusal. */
export function readResponsesCall(body: unknown): SessionCall {
  const read = checkedBody(body, schema, RESPONSES_UNREAD)
  const tools = checkedTools((read.tools ?? []).map(functionTool))
  const choice = checkedChoice(choiceOf(read.tool_choice), tools)
  return {
    protocol: 'responses',
    model: read.model,
    messages: [
      ...(read.instructions ? [{ role: 'system' as const, content: read.instructions }] : []),
      ...(typeof read.input === 'string'
        ? [{ role: 'user' as const, content: read.input }]
        : messagesOfItems(read.input).flatMap(({ message }) => messagesIn(message))),
    ],
    tools,
    toolChoice: choice,
    parallelToolCalls: read.parallel_tool_calls ?? true,
    sampling: samplingOf({
      max_new_tokens: read.max_output_tokens,
      temperature: read.temperature,
      top_p: read.top_p,
    }),
    structured: structureOfText(structureOf(read.text?.format), choice),
    n: 1,
    // Logprobs belong to the texts of the reply: this protocol has no place for those of calls and reasoning.
    logprobs: read.include?.includes(LOGPROBS) || read.top_logprobs ? (read.top_logprobs ?? 0) : undefined,
    stream: read.stream ?? false,
    includeUsage: true,
    templateArguments: templateArguments(read.reasoning?.effort, read.chat_template_kwargs),
    metadata: callMetadata(read.metadata, read.user),
    body: body as SessionCall['body'],
  }
}

const choiceOf = (choice: z.infer<typeof toolChoice> | null | undefined): ToolChoice =>
  typeof choice === 'object' && choice !== null ? { name: choice.name } : (choice ?? 'auto')

function structureOf(given: z.infer<typeof format> | null | undefined): StructuredOutput | undefined {
  if (given?.type === 'json_object') return { kind: 'object' }
  return given?.type === 'json_schema' ? outputBySchema(given) : undefined
}
