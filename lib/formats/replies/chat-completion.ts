/**
 * Chat completions as clients store them: a whole reply, a request with its reply, or the records of a session. The ids are where the
 * server or the client wrote them (reply-ids.ts).
 */
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { trajectoriesOfCalls } from './call-chains.ts'
import { chatCalls } from './chat-reply.ts'

const NAME = 'chat-completion'

/** The format of chat completions. */
export const chatCompletion: Format = {
  name: NAME,
  label: 'chat completions',
  keeps:
    'Ids, logprobs, alternatives, message, counts and the request of replies by vLLM, SGLang, LiteLLM and llama.cpp.',
  sniff: (value) => isChatReply(value) || pairIn(value) !== undefined || sessionIn(value) !== undefined,
  read: catchRefusals((value, source) => {
    const session = sessionIn(value)
    if (session)
      return trajectoriesOfCalls(
        session.flatMap(({ reply, request, path }) => chatCalls(reply, request, path).slice(0, 1)),
        { format: NAME, rest: without(value as JsonObject, ['records']) },
        source,
      )
    return choiceTrajectories(pairIn(value) ?? { ...NO_PAIR, reply: value as JsonObject }, NAME, source)
  }),
}

/** Returns a trajectory for each choice of a reply with messages or ids. */
export const choiceTrajectories = ({ reply, request, path, rest }: Pair, format: string, source: RecordSource) =>
  samplesOfCalls(chatCalls(reply, request, path), reply, { format, rest }, source)

/** Returns a trajectory for each call. Several choices are samples of one prompt. */
export function samplesOfCalls(
  calls: Parameters<typeof trajectoriesOfCalls>[0],
  reply: JsonObject,
  run: Parameters<typeof trajectoriesOfCalls>[1],
  source: RecordSource,
): readonly Trajectory[] {
  const id = [reply.id, reply.request_id].find((value) => typeof value === 'string') as string | undefined
  return calls.flatMap((call, index) => {
    const group = calls.length > 1 && id !== undefined ? { id, index } : undefined
    return trajectoriesOfCalls([call], { ...run, ...(group && { group }) }, source)
  })
}

/** Returns whether a value is a whole reply with messages, and no chunk of a stream. */
export const isChatReply = (value: unknown): value is JsonObject =>
  isObject(value) &&
  Array.isArray(value.choices) &&
  value.choices.some((choice) => isObject(choice) && isObject(choice.message))

/** A reply with its request. */
interface Pair {
  readonly request: JsonObject | undefined
  readonly reply: JsonObject
  readonly path: string
  readonly rest: JsonObject | undefined
}

/** What a reply without its request has in place of it. */
export const NO_PAIR = { request: undefined, path: '', rest: undefined }
const REQUEST_KEYS = ['request', 'body', 'kwargs'] as const
/** OpenHands logs a reply without and with structured calls. */
const REPLY_KEYS = ['fncall_response', 'response', 'reply', 'completion'] as const
const MESSAGE_KEYS = ['fncall_messages', 'messages'] as const

/** Returns the reply that an object has beside its request, or beside the messages of it. */
export function pairIn(value: unknown, isReply = isChatReply): Pair | undefined {
  if (!isObject(value)) return undefined
  const path = REPLY_KEYS.find((key) => isReply(value[key]))
  const reply = REPLY_KEYS.map((key) => value[key]).find(isReply)
  if (path === undefined || !reply) return undefined
  const body = REQUEST_KEYS.map((key) => value[key]).find(isObject)
  const messages = MESSAGE_KEYS.map((key) => value[key]).find(Array.isArray)
  const isApart = messages !== undefined && body?.messages === undefined
  const request = isApart ? { ...body, messages } : body
  const read = [path, ...REQUEST_KEYS.filter((key) => value[key] === body), ...(isApart ? MESSAGE_KEYS : [])]
  return { request, reply, path, rest: without(value, read) }
}

/** Returns the calls of a session server, such as that of miles, in their order. */
function sessionIn(value: unknown): readonly Pair[] | undefined {
  if (!isObject(value) || !Array.isArray(value.records)) return undefined
  const pairs = value.records.map((record) => pairIn(record))
  return pairs.length > 0 && pairs.every((pair) => pair !== undefined)
    ? pairs.map((pair, index) => ({ ...pair, path: `records[${index}].${pair.path}` }))
    : undefined
}
