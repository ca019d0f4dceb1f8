/**
 * Messages of LangChain and LangGraph in the notation of chat completions. `messages_to_dict` writes their fields in `data`, `dumps` and
 * LangChain.js in `kwargs`, and `model_dump` beside the type.
 */
import { isObject, type JsonObject, objectsIn, without } from '#lib/json/json-object.ts'
import { withoutNullFields } from '../replies/chat-chunks.ts'

/** Returns whether a value is a message of LangChain. */
export const isLangchainMessage = (value: unknown): value is JsonObject =>
  isObject(value) && value.role === undefined && 'content' in fieldsOf(value) && roleOf(value) !== undefined

/** Returns a message of LangChain as one of chat completions. */
export function langchainMessage(value: JsonObject): JsonObject {
  const fields = fieldsOf(value)
  const role = roleOf(value)
  const content = Array.isArray(fields.content) ? fields.content.map(blockOf) : fields.content
  if (role === 'assistant') return assistantFields({ ...fields, content })
  const { name, tool_call_id, status } = fields
  return { role, content, ...withoutNullFields({ name, tool_call_id }), ...(status === 'error' && { is_error: true }) }
}

const blockOf = (block: unknown): unknown => (typeof block === 'string' ? { type: 'text', text: block } : block)

/** Roles by the type of a message, which is also the first word of its class. */
const ROLES: Readonly<Record<string, string>> = {
  human: 'user',
  ai: 'assistant',
  system: 'system',
  tool: 'tool',
  function: 'function',
}

/** Returns the role of a message by its type, or by its class, such as `AIMessageChunk`. */
function roleOf({ lc, id, type }: JsonObject): string | undefined {
  const name: unknown = lc !== undefined && Array.isArray(id) ? id.at(-1) : type
  return typeof name === 'string' ? ROLES[name.replace(/Message(Chunk)?$/, '').toLowerCase()] : undefined
}

const fieldsOf = ({ lc, kwargs, data, ...fields }: JsonObject): JsonObject =>
  lc !== undefined && isObject(kwargs) ? kwargs : isObject(data) ? data : fields

function assistantFields(fields: JsonObject): JsonObject {
  const kwargs = isObject(fields.additional_kwargs) ? fields.additional_kwargs : {}
  // The arguments of an invalid call are the text that could not be parsed.
  const parsed = [...objectsIn(fields.tool_calls), ...objectsIn(fields.invalid_tool_calls)].map(callOf)
  const calls = parsed.length > 0 ? parsed : objectsIn(kwargs.tool_calls)
  const { content } = fields
  return {
    ...withoutNullFields(without(fields, READ) ?? {}),
    role: 'assistant',
    content: Array.isArray(content) && calls.length > 0 ? content.filter((block) => !isCall(block)) : content,
    ...(calls.length > 0 && { tool_calls: calls }),
    ...withoutNullFields({ function_call: kwargs.function_call, reasoning_content: kwargs.reasoning_content }),
  }
}

const READ = ['type', 'content', 'additional_kwargs', 'tool_calls', 'invalid_tool_calls']

/** Content of some models repeats the calls. */
const isCall = (block: unknown): boolean =>
  isObject(block) && ['tool_use', 'tool_call', 'function_call', 'invalid_tool_call'].includes(String(block.type))

const callOf = ({ id, name, args }: JsonObject): JsonObject => ({
  ...withoutNullFields({ id }),
  type: 'function',
  function: { name, arguments: args },
})
