/**
 * The Responses API: replies with their requests, alone or as the log of a client. A request may contain only what is new, and name the
 * response before it: its messages are found in the same file.
 */
import { isObject, type JsonObject, objectsIn, without } from '#lib/json/json-object.ts'
import type { Finish, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { isItem, messagesOfItems } from '#lib/trajectory/messages/response-items.ts'
import { idsSchema } from '../columns.ts'
import {
  conversationSegments,
  outcomeOfMessages,
  recordsOf,
  type TextSample,
  textTrajectory,
} from '../conversations/text-trajectory.ts'
import { isoTime } from '../foreign-trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { readTools } from '../messages.ts'
import { catchRefusals, joinedPath, parsedAt, refuse } from '../reading/record-error.ts'
import { trajectoriesOfCalls } from './call-chains.ts'
import { withoutNullFields } from './chat-chunks.ts'
import { NO_PAIR, pairIn } from './chat-completion.ts'
import { usageField } from './chat-reply.ts'
import { type ModelCall, requestFacts } from './model-call.ts'
import { replyColumns } from './reply-columns.ts'
import { entriesOf } from './token-entries.ts'

const NAME = 'responses'

/** The format of the Responses API. */
export const responses: Format = {
  name: NAME,
  label: 'Responses API',
  keeps: 'Messages, reasoning, calls, results, tools and counts; ids if vLLM returns them.',
  joins: true,
  sniff: (value) => isResponse(value) || pairIn(value, isResponse) !== undefined || isResponsesRequest(value),
  read: catchRefusals((value, source) => {
    const records = recordsOf(value).map(({ record, path }) => {
      const pair = isResponse(record) ? { ...NO_PAIR, reply: record } : pairIn(record, isResponse)
      return { record, path, pair }
    })
    const pairs = records.flatMap(({ pair, path }) =>
      pair ? [{ ...pair, path: joinedPath(path.replace(/\.$/, ''), pair.path) }] : [],
    )
    return [
      ...trajectoriesOfCalls(responseCalls(pairs), { format: NAME }, source),
      ...records.flatMap(({ record, path, pair }) =>
        pair ? [] : [requestTrajectory(record, { format: NAME, path }, source)],
      ),
    ]
  }),
}

/** Returns whether a value is a whole response. */
const isResponse = (value: unknown): value is JsonObject =>
  isObject(value) && value.object === 'response' && Array.isArray(value.output)

/** Returns whether a value is a request whose input has items. */
const isResponsesRequest = (value: unknown): value is JsonObject =>
  isObject(value) &&
  typeof value.model === 'string' &&
  Array.isArray(value.input) &&
  value.input.length > 0 &&
  value.input.every((item) => isItem(item) || (isObject(item) && 'role' in item && 'content' in item))

/** A response with its request. */
interface ResponsePair {
  readonly reply: JsonObject
  readonly request: JsonObject | undefined
  readonly path: string
  readonly rest?: JsonObject | undefined
}

/** Returns the calls of responses. One that names a response before it in the list continues its messages. */
function responseCalls(pairs: readonly ResponsePair[]): readonly ModelCall[] {
  const conversations = new Map<unknown, readonly JsonObject[]>()
  return pairs.map((pair) => {
    const { reply, request, path } = pair
    const before = request?.previous_response_id ?? reply.previous_response_id ?? undefined
    const earlier = before === undefined ? undefined : conversations.get(before)
    const instructions = inputMessages(request?.instructions ?? reply.instructions, 'system', path)
    const output = messagesOfItems(objectsAt(reply.output, joinedPath(path, 'output'))).map(({ message }) => message)
    // A server that executes tools itself returns their results between the items of the model.
    const last = output.at(-1)
    const message = isObject(last) && last.role === 'assistant' ? last : { role: 'assistant', content: [] }
    const conversation = [
      ...(earlier ?? []),
      ...inputMessages(request?.input, 'user', joinedPath(path, 'request')),
      ...output.filter(isObject).filter((one) => one !== message),
    ]
    conversations.set(reply.id, [...conversation, message])
    return responseCall(
      pair,
      message,
      [...instructions, ...conversation],
      [
        ...(request ? [] : ['messages of the prompt']),
        ...(before !== undefined && !earlier ? ['messages before those of the request'] : []),
      ],
    )
  })
}

/** Returns a text or a list of items as messages. */
function inputMessages(input: unknown, role: string, path: string): readonly JsonObject[] {
  if (input === undefined || input === null) return []
  if (typeof input === 'string') return [{ role, content: input }]
  return messagesOfItems(objectsAt(input, joinedPath(path, 'input')))
    .map(({ message }) => message)
    .filter(isObject)
}

const objectsAt = (value: unknown, path: string): readonly JsonObject[] =>
  Array.isArray(value) && value.every(isObject) ? value : refuse(path, 'a list of items', value)

function responseCall(
  { reply, request, path, rest }: ResponsePair,
  message: JsonObject,
  messages: readonly JsonObject[],
  lackedMessages: readonly string[],
): ModelCall {
  const parts = objectsIn(message.content)
  const entries = parts.flatMap(({ logprobs }) => entriesOf(logprobs, joinedPath(path, 'output')) ?? [])
  const columns = replyColumns({
    ids: rawIds(reply.output_messages, joinedPath(path, 'output_messages')),
    entries,
    paths: { ids: joinedPath(path, 'output_messages'), entries: joinedPath(path, 'output') },
  })
  const prompt = rawIds(reply.input_messages, joinedPath(path, 'input_messages'))
  const { vocab, lacked, isWhole: _, ...tokens } = columns
  const finish = finishOf(reply)
  return {
    ...requestFacts({
      ...without(request ?? { temperature: reply.temperature }, ['input', 'instructions', 'previous_response_id']),
      messages,
      tools: toolsOf(request?.tools ?? reply.tools),
    }),
    prompt: prompt && { ids: prompt, derivation: { kind: 'reported' } },
    response: {
      kind: 'response',
      ...tokens,
      thinks: [],
      toolCalls: [],
      message,
      ...(finish && { finish }),
      ...usageOf(reply.usage),
    },
    vocab,
    model: typeof reply.model === 'string' ? reply.model : undefined,
    engine: prompt ? 'vllm' : undefined,
    createdAt: isoTime(reply.created_at),
    lacked: [...lacked, ...lackedMessages],
    rest: { ...rest, ...withoutNullFields(without(reply, READ) ?? {}), ...toolsField(reply.tools) },
  }
}

const READ = [
  ...['object', 'output', 'model', 'created_at', 'status', 'instructions', 'tools'],
  ...['input_messages', 'output_messages'],
]

/** vLLM returns the ids of the whole prompt and of the reply with enable_response_messages. */
const rawIds = (messages: unknown, path: string): readonly number[] | undefined =>
  Array.isArray(messages) &&
  messages.length > 0 &&
  messages.every((message) => isObject(message) && message.type === 'raw_message_tokens')
    ? messages.filter(isObject).flatMap(({ tokens }, index) => parsedAt(idsSchema, tokens, `${path}[${index}].tokens`))
    : undefined

/** Tools of the server itself have no name and stay in the request. */
const toolsOf = (tools: unknown): readonly unknown[] =>
  Array.isArray(tools) ? tools.filter((tool) => readTools([tool]) !== undefined) : []

/** Returns the tools that are not read. */
function toolsField(tools: unknown): JsonObject {
  const others = Array.isArray(tools) ? tools.filter((tool) => !toolsOf(tools).includes(tool)) : []
  return others.length > 0 ? { tools: others } : {}
}

const usageOf = (usage: unknown) =>
  isObject(usage)
    ? usageField({
        prompt_tokens: usage.input_tokens,
        completion_tokens: usage.output_tokens,
        prompt_tokens_details: usage.input_tokens_details,
      })
    : {}

function finishOf({ status, incomplete_details: details, error }: JsonObject): Finish | undefined {
  if (status === 'completed') return { kind: 'stop' }
  if (status === 'cancelled') return { kind: 'abort' }
  if (status === 'failed')
    return {
      kind: 'abort',
      ...(isObject(error) && typeof error.message === 'string' && { message: error.message }),
    }
  if (isObject(details) && details.reason === 'max_output_tokens') return { kind: 'length' }
  const raw = isObject(details) ? details.reason : status
  return typeof raw === 'string' ? { kind: 'unknown', raw } : undefined
}

/** Returns the trajectory of a request without its reply, of any endpoint. */
export function requestTrajectory(
  request: JsonObject,
  {
    format,
    path,
    outcome,
    rest,
  }: Pick<TextSample, 'format' | 'outcome'> & { readonly path: string; readonly rest?: JsonObject | undefined },
  source: RecordSource,
): Trajectory {
  const { input, instructions, prompt, model } = request
  const messages = requestFacts(request).messages ?? [
    ...inputMessages(instructions, 'system', path),
    ...(input === undefined ? inputMessages(prompt, 'user', path) : [input].flat()),
  ]
  const list = messages.map((message) => (typeof message === 'string' ? { role: 'user', content: message } : message))
  if (list.length === 0)
    refuse(joinedPath(path.replace(/\.$/, ''), 'messages'), 'messages, an input or a prompt', undefined)
  const segments = conversationSegments(list, `${path}${input === undefined ? 'messages' : 'input'}`)
  return textTrajectory(
    {
      format,
      segments,
      outcome: outcome ?? outcomeOfMessages(segments),
      model: typeof model === 'string' ? model : undefined,
      tools: readTools(toolsOf(request.tools)),
      rest: {
        ...without(request, ['messages', 'input', 'instructions', 'prompt', 'system', 'model', 'tools']),
        ...rest,
      },
    },
    source,
  )
}
