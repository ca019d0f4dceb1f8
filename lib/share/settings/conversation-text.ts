/** Reads a conversation from JSON: messages as chat templates and OpenAI's API write them, or as Rollscope's format does. */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { type Message, schemas } from '#lib/trajectory/format/trajectory.ts'
import { foreignImage, IMAGE_BLOCKS } from '#lib/trajectory/images/foreign-image.ts'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'

/** Messages of a conversation, or why it cannot be read. */
export type ConversationResult =
  | { readonly ok: true; readonly messages: readonly Message[] }
  | { readonly ok: false; readonly why: string }

/** Reads a JSON list of messages, or a JSON object with `messages`. The last message must not be from the assistant. */
export function parseConversation(text: string): ConversationResult {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, why: `it is not JSON: ${(error as SyntaxError).message}` }
  }
  const list = isObject(value) ? value.messages : value
  if (!Array.isArray(list) || list.length === 0) return { ok: false, why: 'expected a list of messages' }
  const messages: Message[] = []
  for (const [index, item] of list.entries()) {
    const read = schemas.message.safeParse(isObject(item) ? ours(item) : item)
    if (!read.success)
      return { ok: false, why: `message ${index + 1}: ${violationText(schemaViolation(read.error, item))}` }
    messages.push(read.data as Message)
  }
  if (messages.at(-1)?.role === 'assistant')
    return { ok: false, why: 'it ends with an assistant message: add a message for the model to answer' }
  return { ok: true, messages }
}

/** Renames the fields of OpenAI's API to those of Rollscope's format. */
function ours(message: JsonObject): JsonObject {
  const { tool_calls, tool_call_id, reasoning_content, content, ...rest } = message
  return {
    ...rest,
    content: Array.isArray(content) ? content.map(ourPart) : (content ?? ''),
    ...(typeof tool_call_id === 'string' && { callId: tool_call_id }),
    ...(typeof reasoning_content === 'string' && { reasoning: reasoning_content }),
    ...(Array.isArray(tool_calls) && { toolCalls: tool_calls.map((call) => (isObject(call) ? ourCall(call) : call)) }),
  }
}

/** Images are data URLs in every notation; other parts stay as they are. */
const ourPart = (part: unknown): unknown =>
  isObject(part) && typeof part.type === 'string' && IMAGE_BLOCKS.has(part.type) ? foreignImage(part) : part

function ourCall(call: JsonObject): JsonObject {
  const { name, arguments: callArguments } = isObject(call.function) ? call.function : call
  return {
    ...(typeof call.id === 'string' && { id: call.id }),
    name,
    input: isObject(callArguments) ? callArguments : parseArguments(callArguments),
  }
}

/** Parses arguments, which OpenAI writes as JSON text. A text that is not JSON is returned unchanged. */
function parseArguments(written: unknown): unknown {
  if (typeof written !== 'string') return written ?? {}
  try {
    return JSON.parse(written)
  } catch {
    return written
  }
}
