/** A conversation as JSON, as chat templates and OpenAI's API have it or as our own format does, read as messages. */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import { type Message, schemas } from '#lib/trajectory/format/trajectory.ts'
import { schemaViolation, violationText } from '#lib/util/schema-violation.ts'

export type ConversationIn =
  | { readonly ok: true; readonly messages: readonly Message[] }
  | { readonly ok: false; readonly why: string }

/** A list of messages, or an object with `messages`. */
export function messagesIn(text: string): ConversationIn {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, why: `it is not JSON: ${(error as SyntaxError).message}` }
  }
  const list = isObject(value) ? value.messages : value
  if (!Array.isArray(list) || list.length === 0) return { ok: false, why: 'expected a list of messages' }
  const messages: Message[] = []
  for (const [index, given] of list.entries()) {
    const read = schemas.message.safeParse(isObject(given) ? ours(given) : given)
    if (!read.success)
      return { ok: false, why: `message ${index + 1}: ${violationText(schemaViolation(read.error, given))}` }
    messages.push(read.data as Message)
  }
  if (messages.at(-1)?.role === 'assistant')
    return { ok: false, why: 'it ends with an answer: add what the model shall answer' }
  return { ok: true, messages }
}

/** The names of our format for those of OpenAI's. */
function ours(message: JsonObject): JsonObject {
  const { tool_calls, tool_call_id, reasoning_content, content, ...rest } = message
  return {
    ...rest,
    content: content ?? '',
    ...(typeof tool_call_id === 'string' && { callId: tool_call_id }),
    ...(typeof reasoning_content === 'string' && { reasoning: reasoning_content }),
    ...(Array.isArray(tool_calls) && { toolCalls: tool_calls.map((call) => (isObject(call) ? ourCall(call) : call)) }),
  }
}

function ourCall(call: JsonObject): JsonObject {
  const { name, arguments: given } = isObject(call.function) ? call.function : call
  return { ...(typeof call.id === 'string' && { id: call.id }), name, input: isObject(given) ? given : parsed(given) }
}

/** OpenAI writes arguments as a text of JSON. One that cannot be read is given as it is. */
function parsed(written: unknown): unknown {
  if (typeof written !== 'string') return written ?? {}
  try {
    return JSON.parse(written)
  } catch {
    return written
  }
}
