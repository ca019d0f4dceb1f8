/** Reads requests of OpenAI chat completions, with the parameters that SGLang and vLLM add. */
import * as z from 'zod/mini'
import type { SessionCall, StructuredOutput, ToolChoice } from '../call.ts'
import {
  absent,
  callMetadata,
  checkedBody,
  checkedChoice,
  checkedTools,
  FURTHER_SAMPLING,
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
import { CallRefusal } from './refusal.ts'

/** Most replies, as OpenAI limits them. */
const MOST_REPLIES = 128

const IDS = 'the session sends its own ids. GET /sessions/{id} returns them'

/** Fields of chat completions that are not read. */
export const CHAT_UNREAD: UnreadFields = {
  ignored: {
    moderation: 'nothing is moderated here',
    prompt_cache_key: 'a session is its own cache key',
    prompt_cache_options: 'the prefix cache needs no options',
    prompt_cache_retention: 'the prefix cache of the server decides',
    rid: 'the session names its requests itself',
    safety_identifier: 'nothing is reported about users',
    service_tier: 'there is one tier',
    separate_reasoning: 'reasoning is always separate',
    store: 'sessions are always stored',
    stream_reasoning: 'reasoning is always streamed',
  },
  refused: {
    add_generation_prompt: 'a reply is always a new message',
    audio: 'replies are texts and tool calls',
    chat_template: 'the chat template belongs to the session. Name it when you create the session',
    continue_final_message: 'a reply is always a new message. Branch a stored trajectory to continue a reply',
    custom_logit_processor: 'it is code for the server',
    documents: 'put documents into a message',
    ebnf: 'use response_format with a JSON Schema',
    echo: 'prompts are not repeated in replies',
    function_call: 'it is the old form of tool_choice. Use tool_choice',
    functions: 'it is the old form of tools. Use tools',
    guided_json: 'use response_format',
    input_ids: IDS,
    json_schema: 'use response_format',
    lora_path: 'name the adapter when you create the session, or as the model of the call',
    no_stop_trim: 'a reply has no token that ends its turn. GET /sessions/{id} returns it with the ids',
    prediction: 'the engines have no predicted outputs',
    prompt_logprobs: 'request them in the inspector of the stored trajectory',
    regex: 'use response_format with a JSON Schema',
    return_hidden_states: 'it is not recorded',
    return_meta_info: IDS,
    return_prompt_token_ids: IDS,
    return_routed_experts: 'it is recorded with a run of the playground only',
    return_token_ids: IDS,
    session_params: 'the session keeps the state itself',
    // Clients that train on ids send false, which is what a session does.
    skip_special_tokens: 'a reply has the text of all tokens but the last. Send false',
    spaces_between_special_tokens: 'a reply has the text of its tokens without additions. Send false',
    structural_tag: 'use tools and tool_choice',
    verbosity: 'chat templates have no such variable',
    web_search_options: 'sessions have no web search. Send a function tool',
  },
}

const cacheControl = { cache_control: unread }
const textPart = z.strictObject({ type: z.literal('text'), text: z.string(), ...cacheControl })
const imagePart = z.strictObject({
  type: z.literal('image_url'),
  // The detail chooses a resolution, which the image itself decides here.
  image_url: z.strictObject({ url: imageUrl, detail: unread }),
  ...cacheControl,
})
const textContent = z.union([z.string(), z.array(textPart)])
const content = z.union([z.string(), z.array(z.discriminatedUnion('type', [textPart, imagePart]))])

const calls = z.array(
  z.strictObject({
    id: z.string(),
    type: z.optional(z.literal('function')),
    index: unread,
    function: z.strictObject({ name: z.string(), arguments: z.string(), parsed_arguments: unread }),
    ...cacheControl,
    extra_content: unread,
    provider_specific_fields: unread,
  }),
)

/** Fields that clients copy from a reply into the history and that no chat template reads. */
const COPIED = {
  annotations: unread,
  // The stream readers of OpenAI's clients add it to the message that they return.
  parsed: unread,
  reasoning_details: unread,
  provider_specific_fields: unread,
  thinking_blocks: unread,
  images: unread,
  ...cacheControl,
}

/** Some chat templates print the name of a participant. */
const name = maybe(z.string())
const message = z.discriminatedUnion('role', [
  z.strictObject({ role: z.literal(['system', 'developer']), content: textContent, name, ...cacheControl }),
  z.strictObject({ role: z.literal('user'), content, name, ...cacheControl }),
  z.strictObject({
    role: z.literal('assistant'),
    content: maybe(textContent),
    reasoning_content: maybe(z.string()),
    reasoning: maybe(z.string()),
    tool_calls: maybe(calls),
    // Frameworks of several agents add it to a reply, which was sampled without a name.
    name: unread,
    refusal: absent('a refusal is a text here. Put it into the content'),
    audio: absent('audio is not supported'),
    function_call: absent('it is the old form of tool_calls. Use tool_calls'),
    ...COPIED,
  }),
  z.strictObject({
    role: z.literal('tool'),
    content,
    tool_call_id: z.string(),
    // The call has the name already.
    name: unread,
    ...cacheControl,
  }),
])

const tool = z.strictObject({
  type: z.literal('function'),
  function: z.strictObject(functionFields),
  ...cacheControl,
})

const toolChoice = z.union([
  z.literal(['none', 'auto', 'required']),
  z.strictObject({ type: z.literal('function'), function: z.strictObject({ name: z.string() }) }),
])

const responseFormat = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text') }),
  z.strictObject({ type: z.literal('json_object') }),
  z.strictObject({ type: z.literal('json_schema'), json_schema: z.strictObject(replySchemaFields) }),
])

const schema = z.strictObject({
  model: z.string(),
  messages: z.array(message).check(z.minLength(1)),
  tools: maybe(z.array(tool)),
  tool_choice: maybe(toolChoice),
  parallel_tool_calls: maybe(z.boolean()),
  response_format: maybe(responseFormat),
  max_tokens: sampled('max_new_tokens'),
  max_completion_tokens: sampled('max_new_tokens'),
  min_tokens: sampled('min_new_tokens'),
  temperature: sampled('temperature'),
  top_p: sampled('top_p'),
  stop: maybe(z.union([z.string(), z.array(z.string())])),
  seed: sampled('sampling_seed'),
  n: maybe(z.int().check(z.minimum(1), z.maximum(MOST_REPLIES))),
  logprobs: maybe(z.boolean()),
  top_logprobs: maybe(z.int().check(z.minimum(0), z.maximum(MOST_LOGPROBS))),
  stream: maybe(z.boolean()),
  stream_options: maybe(z.strictObject({ include_usage: maybe(z.boolean()), include_obfuscation: unread })),
  reasoning_effort: maybe(z.string()),
  chat_template_kwargs: maybe(z.record(z.string(), z.unknown())),
  modalities: maybe(z.array(z.literal('text'))),
  metadata: maybe(z.record(z.string(), z.unknown())),
  user: maybe(z.string()),
  ...Object.fromEntries(FURTHER_SAMPLING.map((name) => [name, sampled(name)])),
})

/** Reads the body of a request to /v1/chat/completions. Throws CallRefusal. */
export function readChatCall(body: unknown): SessionCall {
  const read = checkedBody(body, schema, CHAT_UNREAD)
  const tools = checkedTools((read.tools ?? []).map((one) => functionTool(one.function)))
  const choice = checkedChoice(choiceOf(read.tool_choice), tools)
  if (typeof read.top_logprobs === 'number' && read.logprobs !== true)
    throw new CallRefusal('top_logprobs', 'top_logprobs needs logprobs: true.')
  const further = Object.fromEntries(
    FURTHER_SAMPLING.map((name) => [name, (read as Readonly<Record<string, unknown>>)[name]]),
  )
  return {
    protocol: 'chat',
    model: read.model,
    messages: read.messages.flatMap((one) => messagesIn({ ...one, content: one.content ?? '' })),
    tools,
    toolChoice: choice,
    parallelToolCalls: read.parallel_tool_calls ?? true,
    sampling: samplingOf({
      ...further,
      max_new_tokens: maxTokens(read.max_tokens, read.max_completion_tokens),
      min_new_tokens: read.min_tokens ?? further.min_new_tokens,
      temperature: read.temperature,
      top_p: read.top_p,
      stop: stopTexts(read.stop),
      sampling_seed: read.seed,
    }),
    structured: structureOfText(structureOf(read.response_format), choice),
    n: read.n ?? 1,
    logprobs: read.logprobs === true ? (read.top_logprobs ?? 0) : undefined,
    stream: read.stream ?? false,
    includeUsage: read.stream_options?.include_usage ?? false,
    templateArguments: templateArguments(read.reasoning_effort, read.chat_template_kwargs),
    metadata: callMetadata(read.metadata, read.user),
    body: body as SessionCall['body'],
  }
}

const choiceOf = (choice: z.infer<typeof toolChoice> | null | undefined): ToolChoice =>
  typeof choice === 'object' && choice !== null ? { name: choice.function.name } : (choice ?? 'auto')

function structureOf(format: z.infer<typeof responseFormat> | null | undefined): StructuredOutput | undefined {
  if (format?.type === 'json_object') return { kind: 'object' }
  return format?.type === 'json_schema' ? outputBySchema(format.json_schema) : undefined
}

/** Both fields mean the same; the newer one counts. */
function maxTokens(old: unknown, current: unknown): unknown {
  if (typeof old === 'number' && typeof current === 'number' && old !== current)
    throw new CallRefusal('max_tokens', 'max_tokens and max_completion_tokens differ: remove one of them.')
  return current ?? old
}

/** Returns stop texts as a list of those that are not empty; undefined if there are none. */
function stopTexts(stop: string | readonly string[] | null | undefined): readonly string[] | undefined {
  const texts = [stop ?? []].flat().filter((text) => text !== '')
  if (texts.length > MOST_STOPS) throw new CallRefusal('stop', `stop has more than ${MOST_STOPS} texts.`)
  return texts.length > 0 ? texts : undefined
}

const MOST_STOPS = 32
