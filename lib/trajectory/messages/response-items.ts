/**
 * Items of the Responses API as messages. The reasoning, texts and calls of one reply are items of their own; as a message, they are its
 * content blocks, which readForeignMessage knows.
 */
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'

/** A message with the index of its first item. */
export interface ItemMessage {
  readonly message: unknown
  readonly index: number
}

/** Returns the messages of a list of items. Those of the model that follow each other are one reply. */
export function messagesOfItems(values: readonly unknown[]): readonly ItemMessage[] {
  const messages: ItemMessage[] = []
  let reply: JsonObject[] | undefined
  for (const [index, value] of values.entries()) {
    const blocks = isObject(value) ? replyBlocks(value) : undefined
    if (!blocks) {
      reply = undefined
      messages.push({ message: isObject(value) ? contextMessage(value) : value, index })
    } else if (reply) reply.push(...blocks)
    else {
      reply = [...blocks]
      messages.push({ message: { role: 'assistant', content: reply }, index })
    }
  }
  return messages
}

/** Returns whether a value is an item, and no message of chat completions. */
export function isItem(value: unknown): value is JsonObject {
  if (!isObject(value) || typeof value.type !== 'string') return false
  const { type, role, id, call_id, summary } = value
  if (type === 'message') return typeof role === 'string'
  if (role !== undefined) return false
  if (type === 'reasoning') return Array.isArray(summary)
  return /_(call|output)$/.test(type) && typeof (call_id ?? id) === 'string'
}

/** Returns an item of the model as content blocks; undefined for other items, and for a reply in the form of chat completions. */
function replyBlocks(item: JsonObject): readonly JsonObject[] | undefined {
  const { type, role, content } = item
  if (role !== undefined) {
    if (role !== 'assistant' || 'tool_calls' in item) return undefined
    return Array.isArray(content) ? content.filter(isObject) : [{ type: 'text', text: content }]
  }
  if (type === 'reasoning')
    return [{ ...without(item, ['content']), type: 'thinking', thinking: textsOf(content) || textsOf(item.summary) }]
  if (type === 'function_call' || type === 'custom_tool_call')
    return [{ type: 'tool_use', id: item.call_id, name: item.name, input: item.arguments ?? item.input }]
  return isResult(type) ? undefined : [item]
}

const textsOf = (parts: unknown): string =>
  Array.isArray(parts)
    ? parts.flatMap((part: unknown) => (isObject(part) && typeof part.text === 'string' ? [part.text] : [])).join('\n')
    : ''

const isResult = (type: unknown): boolean => typeof type === 'string' && type.endsWith('_output')

function contextMessage(item: JsonObject): JsonObject {
  const { type, call_id, output } = item
  if (item.role !== undefined || !isResult(type)) return item
  const isContent = typeof output === 'string' || Array.isArray(output)
  return { role: 'tool', tool_call_id: call_id, content: isContent ? output : JSON.stringify(output ?? null) }
}
