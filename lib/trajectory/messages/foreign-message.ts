/**
 * Reads messages in the notations of other programs: chat completions (also as Inspect and vLLM write them), Anthropic's and
 * Strands' content blocks.
 */
import { isObject, type JsonObject, objectsIn, storable, without } from '#lib/json/json-object.ts'
import { parseNestedJson } from '#lib/json/nested-json.ts'
import { exactText } from '#lib/json/written-json.ts'
import type { ContentPart, Message } from '../format/trajectory.ts'
import { foreignImage, IMAGE_BLOCKS } from '../images/foreign-image.ts'

/** A message of the model. */
export type AssistantMessage = Extract<Message, { role: 'assistant' }>

/**
 * Returns the messages that a value contains, or undefined if it is no message. One message may contain several tool results;
 * each becomes a separate message.
 */
export function readForeignMessage(value: unknown): readonly Message[] | undefined {
  if (!isObject(value)) return undefined
  if (value.role === 'assistant') return [assistantMessage(value)]
  const { role, content } = value
  const named = typeof value.name === 'string' ? { name: value.name } : {}
  if (typeof content !== 'string' && !(Array.isArray(content) && content.every(isObject))) return undefined
  if (role === 'tool' && typeof content !== 'string' && content.some(isSdkResult)) return content.map(sdkResult)
  if (role === 'tool' || role === 'function')
    return [
      {
        role: 'tool',
        ...(typeof value.tool_call_id === 'string' && { callId: value.tool_call_id }),
        ...named,
        content: typeof content === 'string' ? content : resultContent(content),
        ...errorField(value.is_error === true || isObject(value.error)),
      },
    ]
  if (role !== 'system' && role !== 'developer' && role !== 'user') return undefined
  if (typeof content === 'string') return [{ role, ...named, content }]
  const results = content.flatMap((block) => resultIn(block) ?? [])
  const parts = content.filter((block) => !isResult(block)).map(partOf)
  return parts.length === 0 ? results : [...results, { role, ...named, content: joinedText(parts) }]
}

/** Returns a message of the model with its reasoning and calls in structured form. */
export function assistantMessage(message: JsonObject): AssistantMessage {
  const blocks = objectsIn(message.content)
  const thoughts = blocks.flatMap((block) => thoughtIn(block) ?? [])
  const reasoning = [message.reasoning ?? message.reasoning_content, ...thoughts].filter(isFilled)
  const toolCalls = [
    // A column of a dataset has calls of any form as a JSON text.
    ...objectsIn(parseNestedJson(message.tool_calls)).map(callOf),
    ...(isObject(message.function_call) ? [callOf({ function: message.function_call })] : []),
    ...blocks.flatMap((block) => callIn(block) ?? []),
  ]
  const parts = blocks.filter((block) => thoughtIn(block) === undefined && callIn(block) === undefined).map(partOf)
  return {
    role: 'assistant',
    content: typeof message.content === 'string' ? message.content : joinedText(parts),
    ...(reasoning.length > 0 && { reasoning: reasoning.join('\n') }),
    ...(toolCalls.length > 0 && { toolCalls }),
  }
}

const isFilled = (text: unknown): text is string => typeof text === 'string' && text !== ''

type Call = NonNullable<AssistantMessage['toolCalls']>[number]

/** The name is in an object `function` (chat completions), or is the value of `function` (Inspect) or `name`. */
function callOf({ id, function: called, name, arguments: callArguments }: JsonObject): Call {
  return isObject(called) ? callWith(id, called.name, called.arguments) : callWith(id, called ?? name, callArguments)
}

function callWith(id: unknown, name: unknown, given: unknown): Call {
  const input = parsedArguments(given)
  return {
    ...(typeof id === 'string' && { id }),
    name: typeof name === 'string' ? name : '',
    input,
    ...(typeof given === 'string' && exactText(given, input)),
  }
}

/** Arguments are JSON texts or values. A text that is not JSON stays a text. */
const parsedArguments = (input: unknown): unknown => (input === '' ? {} : (parseNestedJson(input) ?? {}))

/** Returns the call in a block of Anthropic (`tool_use`), Strands (`toolUse`) or the AI SDK (`tool-call`; `args` before its version 5). */
function callIn({ type, id, name, input, toolUse, toolCallId, toolName, args }: JsonObject): Call | undefined {
  if (isObject(toolUse)) return callWith(toolUse.toolUseId, toolUse.name, toolUse.input)
  if (type === 'tool-call') return callWith(toolCallId, toolName, input ?? args)
  return type === 'tool_use' ? callWith(id, name, input) : undefined
}

/**
 * Returns the reasoning in a block of Anthropic (`thinking`), Inspect (`reasoning`) or Strands (`reasoningContent`, or an object `reasoning` in
 * its TypeScript SDK) or the AI SDK (`text`).
 */
function thoughtIn({ type, thinking, reasoning, reasoningContent, text }: JsonObject): string | undefined {
  if (isObject(reasoningContent) && isObject(reasoningContent.reasoningText))
    return isFilled(reasoningContent.reasoningText.text) ? reasoningContent.reasoningText.text : ''
  if (isObject(reasoning) && typeof reasoning.text === 'string') return reasoning.text
  if (type === 'thinking') return isFilled(thinking) ? thinking : ''
  const thought = reasoning ?? text
  return type === 'reasoning' && typeof thought === 'string' ? thought : undefined
}

const isSdkResult = ({ type }: JsonObject): boolean => type === 'tool-result'

/** Returns the result in a block of the AI SDK: `output` has a type and a value; `result` is the value of its versions before 5. */
function sdkResult({ toolCallId, toolName, output, result, isError }: JsonObject): Message {
  const { type, value, reason } = isObject(output) ? output : {}
  const content = value ?? reason ?? result ?? output
  return {
    role: 'tool',
    ...(typeof toolCallId === 'string' && { callId: toolCallId }),
    ...(typeof toolName === 'string' && { name: toolName }),
    content:
      type === 'content'
        ? resultContent(objectsIn(value))
        : typeof content === 'string'
          ? content
          : JSON.stringify(content ?? null),
    ...errorField(isError === true || /^error|denied$/.test(String(type))),
  }
}

const isResult = ({ type, toolResult }: JsonObject): boolean => toolResult !== undefined || type === 'tool_result'

/** Returns the result in a block of Strands (`toolResult`) or Anthropic (`tool_result`). */
function resultIn(block: JsonObject): Message | undefined {
  if (!isResult(block)) return undefined
  const { toolResult, tool_use_id, content, is_error } = block
  if (toolResult === undefined) return resultMessage(tool_use_id, content, is_error === true)
  if (!isObject(toolResult)) return undefined
  return resultMessage(toolResult.toolUseId, toolResult.content, toolResult.status === 'error')
}

const resultMessage = (callId: unknown, content: unknown, isError: boolean): Message => ({
  role: 'tool',
  ...(typeof callId === 'string' && { callId }),
  content: typeof content === 'string' ? content : resultContent(objectsIn(content)),
  ...errorField(isError),
})

const errorField = (isError: boolean) => isError && { isError }

/** The key names a Strands block, the type an OpenAI part. A part of another kind keeps its content. */
function partOf(block: JsonObject): ContentPart {
  if (typeof block.text === 'string') return { type: 'text', text: block.text }
  const type = typeof block.type === 'string' ? block.type : (Object.keys(block)[0] ?? 'unknown')
  return IMAGE_BLOCKS.has(type) ? foreignImage(block) : { ...storable(without(block, PART_FIELDS) ?? {}), type }
}

/** Fields that mean something else in a part of a trajectory. */
const PART_FIELDS = ['text', 'image', 'reference']

const joinedText = (parts: readonly ContentPart[]): string | readonly ContentPart[] =>
  parts.every(({ type }) => type === 'text') ? parts.map(({ text = '' }) => text).join('') : parts

/** A block `json` of Strands is a text. */
const resultContent = (blocks: readonly JsonObject[]): string | readonly ContentPart[] =>
  joinedText(blocks.map((block) => partOf(block.json === undefined ? block : { text: JSON.stringify(block.json) })))
