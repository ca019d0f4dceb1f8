/** Anthropic messages: a request body, a reply, or both. */
import { isObject, type JsonObject, storable, without } from '#lib/json/json-object.ts'
import type { Finish, ResponseSegment } from '#lib/trajectory/format/trajectory.ts'
import type { Format } from '../format.ts'
import { readTools } from '../messages.ts'
import { catchRefusals, refuse } from '../reading/record-error.ts'
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
    const segments = [...conversationSegments(messages, 'messages'), ...(reply ? [replySegment(reply)] : [])]
    const model = [reply?.model, request?.model].find((name) => typeof name === 'string') as string | undefined
    return [
      textTrajectory(
        {
          format: NAME,
          segments,
          outcome: outcomeOfMessages(segments),
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

function replySegment(reply: JsonObject): ResponseSegment {
  const { usage, stop_reason: reason, stop_sequence: sequence } = reply
  const finish = finishOf(reason, sequence)
  const counts = isObject(usage) ? { input: usage.input_tokens, output: usage.output_tokens } : {}
  return {
    ...responseSegment({ role: 'assistant', content: reply.content }),
    ...(finish && { finish }),
    ...((Number.isSafeInteger(counts.input) || Number.isSafeInteger(counts.output)) && {
      usage: {
        ...(Number.isSafeInteger(counts.input) && { promptTokens: counts.input as number }),
        ...(Number.isSafeInteger(counts.output) && { completionTokens: counts.output as number }),
      },
    }),
  }
}

function finishOf(reason: unknown, sequence: unknown): Finish | undefined {
  if (typeof reason !== 'string') return undefined
  if (reason === 'max_tokens') return { kind: 'length' }
  if (reason === 'end_turn' || reason === 'tool_use') return { kind: 'stop' }
  if (reason === 'stop_sequence') return { kind: 'stop', ...(typeof sequence === 'string' && { matched: sequence }) }
  return { kind: 'unknown', raw: reason }
}
