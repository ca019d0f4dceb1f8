/**
 * The messages of a run of Pydantic AI: requests and responses, which have parts. The results of tools, questions and system prompts are
 * parts of requests.
 */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { isoText } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { withoutNullFields } from '../replies/chat-chunks.ts'
import { conversationSegments, outcomeOfMessages, textTrajectory } from './text-trajectory.ts'

const NAME = 'pydantic-ai'

/** The format of Pydantic AI's messages. */
export const pydanticAi: Format = {
  name: NAME,
  label: 'messages of Pydantic AI',
  keeps:
    'Messages, instructions, reasoning, calls and results; the model and the time of the first message. Texts only.',
  joins: 'list',
  sniff: isModelMessage,
  read: catchRefusals((value, source) => {
    const all = [value].flat().filter(isModelMessage)
    const messages = all.flatMap((message, index) =>
      messagesOf(message, all.findLast(({ kind }, at) => at < index && kind === 'request')?.instructions).map(
        (read) => ({ read, index }),
      ),
    )
    const segments = conversationSegments(
      messages.map(({ read }) => read),
      (at) => `[${elementAt(messages, at).index}].parts`,
    )
    const model = all.findLast(({ model_name: name }) => typeof name === 'string')?.model_name
    return [
      textTrajectory(
        {
          format: NAME,
          segments,
          outcome: outcomeOfMessages(segments),
          model: typeof model === 'string' ? model : undefined,
          createdAt: isoText(elementAt(all, 0).timestamp),
          rest: undefined,
        },
        source,
      ),
    ]
  }),
}

interface ModelMessage extends JsonObject {
  readonly kind: 'request' | 'response'
  readonly parts: readonly JsonObject[]
}

function isModelMessage(value: unknown): value is ModelMessage {
  return (
    isObject(value) &&
    (value.kind === 'request' || value.kind === 'response') &&
    Array.isArray(value.parts) &&
    value.parts.every((part) => isObject(part) && typeof part.part_kind === 'string')
  )
}

/** Returns the messages of a request or response. Each request has the instructions, which are a message where they change. */
function messagesOf({ kind, parts, instructions }: ModelMessage, before: unknown): readonly JsonObject[] {
  if (kind === 'response') return [{ role: 'assistant', content: parts.map(replyBlock) }]
  const isNew = typeof instructions === 'string' && instructions !== before
  return [...(isNew ? [{ role: 'system', content: instructions }] : []), ...parts.map(requestMessage)]
}

function replyBlock(part: JsonObject): JsonObject {
  const { part_kind: kind, content, tool_name: name, tool_call_id: id, args } = part
  if (kind === 'text') return { type: 'text', text: content }
  if (kind === 'thinking') return { type: 'thinking', thinking: content }
  return kind === 'tool-call' ? { type: 'tool_use', id, name, input: args } : { ...part, type: kind }
}

function requestMessage({ part_kind: kind, content, tool_name: name, tool_call_id: id }: JsonObject): JsonObject {
  const isRetry = kind === 'retry-prompt'
  if (kind === 'tool-return' || (isRetry && typeof name === 'string'))
    return {
      role: 'tool',
      ...withoutNullFields({ name, tool_call_id: id }),
      content: textOf(content),
      ...(isRetry && { is_error: true }),
    }
  const role = kind === 'system-prompt' ? 'system' : 'user'
  return { role, content: Array.isArray(content) && !isRetry ? content.map(promptBlock) : textOf(content) }
}

/** Returns what the model reads of a value. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

function promptBlock(part: unknown): JsonObject {
  if (!isObject(part)) return { type: 'text', text: textOf(part) }
  const { kind, url, data, media_type } = part
  if (kind === 'image-url') return { type: 'image_url', image_url: { url } }
  const isImage = kind === 'binary' && typeof data === 'string' && String(media_type).startsWith('image/')
  // Pydantic writes bytes in the alphabet of URLs.
  return isImage
    ? { type: 'image', source: { type: 'base64', media_type, data: data.replaceAll('-', '+').replaceAll('_', '/') } }
    : { ...part, type: kind }
}
