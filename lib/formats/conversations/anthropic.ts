/** Anthropic messages: a request body, a reply, or both. */
import { isObject, type JsonObject, storable, without } from '#lib/json/json-object.ts'
import type { Finish, ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import type { Format } from '../format.ts'
import { readTools } from '../messages.ts'
import { catchRefusals, refuse } from '../reading/record-error.ts'
import { outcomeOfReply } from '../replies/call-chains.ts'
import { requestFacts } from '../replies/model-call.ts'
import { conversationSegments, outcomeOfMessages, responseSegment, textTrajectory } from './text-trajectory.ts'

const NAME = 'anthropic'

/** The format of Anthropic's Messages API. */
export const anthropic: Format = {
  name: NAME,
  label: 'Anthropic messages',
  keeps: 'Messages, thinking, calls, results, tools and counts. Texts only.',
  sniff: (value) => isBody(value) || isReply(value) || (isObject(value) && isReply(value.response)),
  read: catchRefusals((value, source) => {
    const record = value as JsonObject
    const reply = [record, record.response].find(isReply)
    const request = reply === record ? undefined : isObject(record.request) ? record.request : record
    const messages =
      requestFacts(request).messages ?? (reply ? [] : refuse('messages', 'a list of messages', record.messages))
    const history = conversationSegments(messages, 'messages')
    const answer = reply && replySegment(reply)
    const segments = [...history, ...(answer ? [answer] : [])]
    const model = [reply?.model, request?.model].find((name) => typeof name === 'string') as string | undefined
    return [
      textTrajectory(
        {
          format: NAME,
          segments,
          outcome: answer ? outcomeOfReply(answer) : outcomeOfMessages(segments),
          model,
          tools: readTools(request?.tools),
          reward: record.reward,
          rest: storable({
            ...without(record, [
              'messages',
              'system',
              'tools',
              'model',
              'request',
              'response',
              'reward',
              ...(reply === record ? REPLY : []),
            ]),
            ...(request &&
              request !== record && { request: without(request, ['messages', 'system', 'tools', 'model']) ?? {} }),
          }),
        },
        source,
      ),
    ]
  }),
}

const REPLY = ['type', 'role', 'content', 'usage', 'stop_reason', 'stop_sequence']

const isReply = (value: unknown): value is JsonObject =>
  isObject(value) && value.type === 'message' && value.role === 'assistant' && Array.isArray(value.content)

/** Only Anthropic has these blocks, tools with `input_schema`, and the system prompt beside the messages. */
function isBody(value: unknown): boolean {
  if (!isObject(value) || !Array.isArray(value.messages) || value.messages.length === 0) return false
  if (
    !value.messages.every((message) => isObject(message) && (message.role === 'user' || message.role === 'assistant'))
  )
    return false
  const hasTools = Array.isArray(value.tools) && value.tools.some((tool) => isObject(tool) && 'input_schema' in tool)
  const hasSystem = typeof value.system === 'string' || Array.isArray(value.system)
  return hasTools || hasSystem || value.messages.some((message) => isObject(message) && hasBlocks(message.content))
}

const BLOCKS: readonly unknown[] = ['tool_use', 'tool_result', 'thinking']

const hasBlocks = (content: unknown): boolean =>
  Array.isArray(content) && content.some((block) => isObject(block) && BLOCKS.includes(block.type))

/** Returns the response of a reply, with its finish and its counts. */
export function replySegment(reply: JsonObject): ResponseSegment {
  const { usage, stop_reason: reason, stop_sequence: sequence } = reply
  const finish = finishOf(reason, sequence)
  const counts = usageOf(usage)
  return {
    ...responseSegment({ role: 'assistant', content: reply.content }),
    ...(finish && { finish }),
    ...(counts && { usage: counts }),
  }
}

/** Tokens of the prompt that the cache has, or that are written to it, are not part of `input_tokens`. */
function usageOf(usage: unknown): ResponseSegment['usage'] {
  if (!isObject(usage)) return undefined
  const [input, created, read, output] = [
    usage.input_tokens,
    usage.cache_creation_input_tokens,
    usage.cache_read_input_tokens,
    usage.output_tokens,
  ].map((count) => (typeof count === 'number' && Number.isSafeInteger(count) ? count : undefined))
  if (input === undefined && output === undefined) return undefined
  return {
    ...(input !== undefined && { promptTokens: input + (created ?? 0) + (read ?? 0) }),
    ...(output !== undefined && { completionTokens: output }),
    ...(input !== undefined && read !== undefined && { cachedTokens: read }),
  }
}

function finishOf(reason: unknown, sequence: unknown): Finish | undefined {
  if (typeof reason !== 'string') return undefined
  if (reason === 'max_tokens') return { kind: 'length' }
  if (reason === 'end_turn' || reason === 'tool_use') return { kind: 'stop' }
  if (reason === 'stop_sequence') return { kind: 'stop', ...(typeof sequence === 'string' && { matched: sequence }) }
  return { kind: 'unknown', raw: reason }
}
