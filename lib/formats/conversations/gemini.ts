/**
 * Gemini's generateContent: requests, replies and lists of contents. The HTTP interface names fields in camel case, and the classes of
 * google-genai in snake case.
 */
import { isObject, type JsonObject, objectsIn, without } from '#lib/json/json-object.ts'
import type { Finish, ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import { isoTime } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { readTools } from '../messages.ts'
import { catchRefusals, joinedPath, refuse } from '../reading/record-error.ts'
import { withoutNullFields } from '../replies/chat-chunks.ts'
import { NO_PAIR, pairIn, samplesOfCalls } from '../replies/chat-completion.ts'
import { usageField } from '../replies/chat-reply.ts'
import { type ModelCall, requestFacts } from '../replies/model-call.ts'
import { replyColumns } from '../replies/reply-columns.ts'
import { entriesOf } from '../replies/token-entries.ts'
import { conversationSegments, outcomeOfMessages, textTrajectory } from './text-trajectory.ts'

const NAME = 'gemini'

/** The format of requests and replies. */
export const gemini: Format = {
  name: NAME,
  label: 'Gemini generateContent',
  keeps: 'Messages, thoughts, calls, results, tools and counts; ids and logprobs of a reply with logprobsResult.',
  sniff: (value) => isWholeReply(value) || pairIn(value, isGeminiReply) !== undefined || isRequest(value),
  read: catchRefusals((value, source) => {
    const record = isObject(value) ? value : {}
    const pair = isGeminiReply(record) ? { ...NO_PAIR, reply: record } : pairIn(record, isGeminiReply)
    if (!pair) {
      const { messages, tools, rest } = readRequest(record, '')
      const segments = conversationSegments(messages, 'contents')
      const model = nameIn(record.model)
      return [
        textTrajectory({ format: NAME, segments, outcome: outcomeOfMessages(segments), model, tools, rest }, source),
      ]
    }
    const { reply, request, path, rest } = pair
    const calls = objectsIn(reply.candidates).map((candidate, index) =>
      callOf(candidate, reply, request, joinedPath(path, `candidates[${index}]`)),
    )
    const id = geminiField(reply, 'response_id')
    return samplesOfCalls(calls, { id }, { format: NAME, rest }, source)
  }),
}

/** The format of lists of contents, such as the history of a chat. */
export const geminiContents: Format = {
  name: 'gemini-contents',
  label: 'Gemini contents',
  keeps: 'Messages, thoughts, calls and results. Texts only.',
  joins: 'list',
  sniff: isContent,
  read: catchRefusals((value, source) => {
    const segments = conversationSegments(messagesOfContents([value].flat(), ''), '')
    return [
      textTrajectory(
        { format: 'gemini-contents', segments, outcome: outcomeOfMessages(segments), rest: undefined },
        source,
      ),
    ]
  }),
}

const ROLES = ['user', 'model', 'function', 'tool']

/** Other programs have messages with `parts` too, whose parts have a type. */
function isContent(value: unknown): boolean {
  if (!isObject(value) || !Array.isArray(value.parts)) return false
  const isRole = typeof value.role === 'string' && ROLES.includes(value.role)
  return isRole && value.parts.every((part) => isObject(part) && typeof part.type !== 'string')
}

/** Returns whether a value is a reply, or the chunk of one. */
export const isGeminiReply = (value: unknown): value is JsonObject =>
  isObject(value) &&
  Array.isArray(value.candidates) &&
  value.candidates.length > 0 &&
  value.candidates.every(
    (candidate) =>
      isObject(candidate) && ('content' in candidate || geminiField(candidate, 'finish_reason') !== undefined),
  )

/** Returns whether a value is a reply whose candidates have all ended, as those of earlier chunks have not. */
export const isWholeReply = (value: unknown): value is JsonObject =>
  isGeminiReply(value) &&
  objectsIn(value.candidates).every((candidate) => geminiField(candidate, 'finish_reason') !== undefined)

const isRequest = (value: unknown): value is JsonObject =>
  isObject(value) && Array.isArray(value.contents) && value.contents.length > 0 && value.contents.every(isContent)

/** Returns a field by its name in snake case, which may be in camel case. */
export const geminiField = (object: JsonObject, name: string): unknown =>
  object[name] ?? object[name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())] ?? undefined

const nameIn = (name: unknown): string | undefined => (typeof name === 'string' ? name : undefined)

interface Request {
  readonly messages: readonly JsonObject[]
  readonly tools: ReturnType<typeof readTools>
  /** Its other fields. */
  readonly rest: JsonObject | undefined
}

/** The classes of google-genai have the instruction, the tools and the parameters in `config`. */
function readRequest(request: JsonObject, path: string): Request {
  const { contents, config } = request
  const settings = isObject(config) ? { ...config, ...request } : request
  const instruction = geminiField(settings, 'system_instruction')
  const system =
    instruction === undefined ? [] : messagesOfContents([instruction], joinedPath(path, 'system_instruction'))
  const list = contents === undefined ? [] : [contents].flat()
  const declared = objectsIn(settings.tools).flatMap((tool) => objectsIn(geminiField(tool, 'function_declarations')))
  const tools = declared.map((tool) => ({
    ...tool,
    parameters: geminiField(tool, 'parameters_json_schema') ?? tool.parameters,
  }))
  return {
    messages: [
      ...system.map((message) => ({ ...message, role: 'system' })),
      ...messagesOfContents(list, joinedPath(path, 'contents')),
    ],
    tools: readTools(tools),
    rest: without(settings, [
      'contents',
      'config',
      'system_instruction',
      'systemInstruction',
      'model',
      ...(tools.length > 0 ? ['tools'] : []),
    ]),
  }
}

/** Returns contents as messages of chat completions. Each result is a message of its own. */
export function messagesOfContents(contents: readonly unknown[], path: string): readonly JsonObject[] {
  return contents.flatMap((content, index): readonly JsonObject[] => {
    if (typeof content === 'string') return [{ role: 'user', content }]
    if (!isObject(content)) return refuse(`${path}[${index}]`, 'a content with parts', content)
    const { role = 'user' } = content
    const parts = objectsIn([content.parts].flat())
    if (role === 'model') return [modelMessage(parts)]
    const results = parts.flatMap((part) => objectsIn([geminiField(part, 'function_response')]))
    const others = parts.filter((part) => geminiField(part, 'function_response') === undefined)
    return [
      ...results.map(({ id, name, response }) => ({
        role: 'tool',
        tool_call_id: id,
        name,
        content: resultOf(response),
      })),
      ...(others.length > 0 || results.length === 0 ? [{ role, content: others.map(partOf) }] : []),
    ]
  })
}

function modelMessage(parts: readonly JsonObject[]): JsonObject {
  const isThought = ({ thought, text }: JsonObject): boolean => thought === true && typeof text === 'string'
  const calls = parts.flatMap((part) => objectsIn([geminiField(part, 'function_call')]))
  const thoughts = parts.filter(isThought).map(({ text }) => text)
  const others = parts.filter((part) => !isThought(part) && geminiField(part, 'function_call') === undefined)
  return {
    role: 'assistant',
    content: others.map(partOf),
    ...(thoughts.length > 0 && { reasoning_content: thoughts.join('\n') }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ id, name, args }) => ({ id, function: { name, arguments: args } })),
    }),
  }
}

/** The result of a function is an object, often with the value alone. */
function resultOf(response: unknown): string {
  const { result, output, ...others } = isObject(response) ? response : { result: response }
  const value = result ?? output
  return typeof value === 'string' && Object.keys(others).length === 0 ? value : JSON.stringify(response ?? null)
}

/** Returns a part that readForeignMessage knows. */
function partOf(part: JsonObject): JsonObject {
  if (typeof part.text === 'string') return part
  const blob = geminiField(part, 'inline_data')
  const type = isObject(blob) ? geminiField(blob, 'mime_type') : undefined
  if (isObject(blob) && typeof type === 'string' && type.startsWith('image/'))
    return { type: 'image_url', image_url: { url: `data:${type};base64,${plainBase64(String(blob.data))}` } }
  return part
}

/** The classes of google-genai write bytes in the alphabet of URLs. */
const plainBase64 = (text: string): string => text.replaceAll('-', '+').replaceAll('_', '/')

function callOf(candidate: JsonObject, reply: JsonObject, request: JsonObject | undefined, path: string): ModelCall {
  const { messages = [], tools = [], rest: settings } = request ? readRequest(request, 'request') : {}
  const content = isObject(candidate.content) ? candidate.content : {}
  const logprobs = geminiField(candidate, 'logprobs_result')
  const at = joinedPath(path, 'logprobs_result')
  const { vocab, lacked, isWhole, ...tokens } = replyColumns({
    ids: undefined,
    entries: entriesOf(isObject(logprobs) ? entryObjects(logprobs) : undefined, at),
    paths: { ids: at, entries: at },
  })
  const finish = finishOf(geminiField(candidate, 'finish_reason'))
  return {
    ...requestFacts(settings),
    messages: request && messages,
    tools,
    prompt: undefined,
    response: {
      kind: 'response',
      ...tokens,
      thinks: [],
      toolCalls: [],
      message: modelMessage(objectsIn(content.parts)),
      ...(finish && { finish }),
      ...geminiUsage(geminiField(reply, 'usage_metadata')),
    },
    vocab,
    model: nameIn(geminiField(reply, 'model_version') ?? request?.model),
    engine: undefined,
    createdAt: isoTime(Date.parse(String(geminiField(reply, 'create_time'))) / 1000),
    lacked: [
      ...lacked,
      ...(request ? [] : ['messages of the prompt']),
      ...(tokens.ids.length > 0 ? ['ids of the prompt'] : []),
    ],
    rest: restOf(candidate, reply, isWhole),
  }
}

/** Returns logprobs in the notation of chat completions. */
function entryObjects(logprobs: JsonObject): readonly JsonObject[] {
  const entry = (candidate: JsonObject): JsonObject => ({
    id: geminiField(candidate, 'token_id'),
    token: candidate.token,
    logprob: geminiField(candidate, 'log_probability'),
  })
  const tops = objectsIn(geminiField(logprobs, 'top_candidates'))
  return objectsIn(geminiField(logprobs, 'chosen_candidates')).map((candidate, index) => ({
    ...entry(candidate),
    top_logprobs: objectsIn(tops[index]?.candidates).map(entry),
  }))
}

function finishOf(reason: unknown): Finish | undefined {
  if (typeof reason !== 'string') return undefined
  if (reason === 'STOP') return { kind: 'stop' }
  return reason === 'MAX_TOKENS' ? { kind: 'length' } : { kind: 'unknown', raw: reason }
}

/** Returns the counts of a reply. Thoughts are not among the tokens of the candidates. */
export function geminiUsage(usage: unknown): Pick<ResponseSegment, 'usage'> {
  if (!isObject(usage)) return {}
  const [candidates, thoughts = 0] = [
    geminiField(usage, 'candidates_token_count'),
    geminiField(usage, 'thoughts_token_count'),
  ]
  return usageField({
    prompt_tokens: geminiField(usage, 'prompt_token_count'),
    completion_tokens: typeof candidates === 'number' ? candidates + Number(thoughts) : undefined,
    prompt_tokens_details: { cached_tokens: geminiField(usage, 'cached_content_token_count') },
  })
}

const READ = ['candidates', 'model_version', 'modelVersion', 'create_time', 'createTime']
const READ_OF_CANDIDATE = ['content', 'index', 'finish_reason', 'finishReason']

function restOf(candidate: JsonObject, reply: JsonObject, isWhole: boolean): JsonObject {
  return withoutNullFields({
    ...without(reply, READ),
    ...without(candidate, [...READ_OF_CANDIDATE, ...(isWhole ? ['logprobs_result', 'logprobsResult'] : [])]),
  })
}
