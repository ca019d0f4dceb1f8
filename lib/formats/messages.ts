/** Reads messages in the notations of Strands, OpenAI and trainers. */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { Message, Segment } from '#lib/trajectory/format/trajectory.ts'

/**
 * Assigns messages to the prompt segments: those between two answers belong to the prompt between them. Undefined if
 * these are not messages, or not those of these segments.
 */
export function withMessages(segments: readonly Segment[], messages: unknown): readonly Segment[] | undefined {
  const groups = betweenAnswers(messages)
  if (groups?.length !== segments.filter(({ kind }) => kind === 'prompt').length) return undefined
  const next = groups.values()
  return segments.map((segment) =>
    segment.kind === 'prompt' ? { ...segment, messages: next.next().value as Message[] } : segment,
  )
}

function betweenAnswers(messages: unknown): Message[][] | undefined {
  if (!Array.isArray(messages)) return undefined
  const groups: Message[][] = [[]]
  for (const value of messages) {
    if (isObject(value) && value.role === 'assistant') groups.push([])
    else {
      const read = readMessage(value)
      if (!read) return undefined
      groups.at(-1)?.push(...read)
    }
  }
  return groups.at(-1)?.length === 0 ? groups.slice(0, -1) : groups
}

/**
 * Returns all messages with those of the assistant, for a prompt that contains earlier answers as messages. Undefined if these are
 * not messages.
 */
export function readMessages(messages: unknown): readonly Message[] | undefined {
  if (!Array.isArray(messages)) return undefined
  const read = messages.map((value) =>
    isObject(value) && value.role === 'assistant' ? [assistantMessage(value)] : readMessage(value),
  )
  return read.every((each) => each !== undefined) ? read.flat() : undefined
}

/** Reads the notation of OpenAI; tool calls may be a JSON text, as in columns of data sets. */
function assistantMessage(value: JsonObject): Message {
  const { content, reasoning_content } = value
  const written = typeof value.tool_calls === 'string' ? parsedJson(value.tool_calls) : value.tool_calls
  const calls = Array.isArray(written) ? written.flatMap((call) => (isObject(call) ? [toolCall(call)] : [])) : []
  return {
    role: 'assistant',
    content: Array.isArray(content)
      ? textOfBlocks(content.filter(isObject))
      : typeof content === 'string'
        ? content
        : '',
    ...(typeof reasoning_content === 'string' && { reasoning: reasoning_content }),
    ...(calls.length > 0 && { toolCalls: calls }),
  }
}

function toolCall(call: JsonObject) {
  const { name, arguments: input } = isObject(call.function) ? call.function : call
  return {
    ...(typeof call.id === 'string' && { id: call.id }),
    name: typeof name === 'string' ? name : '',
    input: typeof input === 'string' ? (parsedJson(input) ?? input) : (input ?? {}),
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the messages before the first answer, or undefined if they cannot be read. */
export const firstMessages = (messages: unknown): readonly Message[] | undefined => betweenAnswers(messages)?.[0]

/** Returns the tools in the notation of OpenAI, with or without an enclosing `function`; undefined if these are not tools. */
export function readTools(tools: unknown): readonly ToolSpec[] | undefined {
  const list = typeof tools === 'string' ? parsedJson(tools) : tools
  if (!Array.isArray(list)) return undefined
  const specs = list.map((tool): ToolSpec | undefined => {
    const spec = isObject(tool) && isObject(tool.function) ? tool.function : tool
    if (!isObject(spec) || typeof spec.name !== 'string') return undefined
    const { name, description, parameters } = spec
    return {
      name,
      ...(typeof description === 'string' && { description }),
      inputSchema: isObject(parameters) ? parameters : {},
    }
  })
  return specs.every((spec) => spec !== undefined) ? specs : undefined
}

/** One message may contain several tool results; each becomes a separate message. */
function readMessage(value: unknown): Message[] | undefined {
  if (!isObject(value)) return undefined
  const { role, content } = value
  if (typeof content !== 'string' && !(Array.isArray(content) && content.every(isObject))) return undefined
  if (role === 'tool')
    return [
      {
        role,
        ...(typeof value.tool_call_id === 'string' && { callId: value.tool_call_id }),
        content: typeof content === 'string' ? content : textOfBlocks(content),
      },
    ]
  if (role !== 'system' && role !== 'developer' && role !== 'user') return undefined
  if (typeof content === 'string') return [{ role, content }]
  const results = content.flatMap(({ toolResult }) => (isObject(toolResult) ? [resultMessage(toolResult)] : []))
  const parts = content.filter(({ toolResult }) => toolResult === undefined).map(partOf)
  if (parts.length === 0) return results
  const text = parts.every(({ type }) => type === 'text') ? textOfBlocks(parts) : undefined
  return [...results, { role, content: text ?? parts }]
}

const resultMessage = ({ toolUseId, content }: JsonObject): Message => ({
  role: 'tool',
  ...(typeof toolUseId === 'string' && { callId: toolUseId }),
  content: Array.isArray(content) ? textOfBlocks(content.filter(isObject)) : '',
})

/** The key names a Strands block, the type an OpenAI part. */
function partOf(block: JsonObject): { readonly type: string; readonly text?: string } {
  if (typeof block.text === 'string') return { type: 'text', text: block.text }
  return { type: typeof block.type === 'string' ? block.type : (Object.keys(block)[0] ?? 'unknown') }
}

const textOfBlocks = (blocks: readonly JsonObject[]): string =>
  blocks.map((block) => (typeof block.text === 'string' ? block.text : '')).join('')
