/**
 * Messages in the attributes of OpenTelemetry’s GenAI conventions: JSON texts or lists of `{role, parts}`. Older versions of the conventions
 * have an event for each message, as Strands Agents writes them by default.
 */
import { isObject, type JsonObject, objectsIn } from '#lib/json/json-object.ts'
import { parseNestedJson } from '#lib/json/nested-json.ts'

/** Returns the messages of a request in the notation of chat completions. */
export function genAiMessages(attributes: JsonObject): readonly JsonObject[] {
  const system = objectsIn(parseNestedJson(attributes['gen_ai.system_instructions']))
  const inputMessages = objectsIn(parseNestedJson(attributes['gen_ai.input.messages'])).flatMap(messagesOf)
  return [...(system.length > 0 ? [{ role: 'system', content: textOf(system) }] : []), ...inputMessages]
}

/** Returns the message of the model; undefined if the span has none. */
export const genAiMessage = (attributes: JsonObject): JsonObject | undefined =>
  objectsIn(parseNestedJson(attributes['gen_ai.output.messages'])).flatMap(messagesOf)[0]

/** Each result of a tool is a message of its own. */
function messagesOf({ role, parts, ...fields }: JsonObject): readonly JsonObject[] {
  const all = objectsIn(parts)
  const results = all
    .filter(({ type }) => type === 'tool_call_response')
    .map(({ id, response, result }) => ({ role: 'tool', tool_call_id: id, content: resultOf(response ?? result) }))
  const calls = all.filter(({ type }) => type === 'tool_call')
  const thoughts = all.flatMap((part) => thoughtIn(part) ?? [])
  const content = all.filter((part) => !OF_TOOLS.includes(part.type) && thoughtIn(part) === undefined)
  if (results.length > 0 && content.length === 0) return results
  return [
    ...results,
    {
      role,
      content: content.every(({ type }) => type === 'text') ? textOf(content) : content.map(contentPart),
      ...(thoughts.length > 0 && { reasoning_content: thoughts.join('') }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, arguments: input }) => ({ id, function: { name, arguments: input } })),
      }),
      ...fields,
    },
  ]
}

const OF_TOOLS: readonly unknown[] = ['tool_call', 'tool_call_response']

/** Returns a part in the notation of chat completions. Parts of other kinds stay unchanged. */
function contentPart(part: JsonObject): JsonObject {
  const { type, modality, content, mime_type: mime, uri } = part
  if (type === 'text') return { type, text: asText(content) }
  if (modality !== 'image' || (type !== 'blob' && type !== 'uri')) return part
  return { type: 'image_url', image_url: { url: type === 'uri' ? uri : `data:${mime};base64,${content}` } }
}

/** Strands has the block of its reasoning as the content of a part. */
function thoughtIn({ type, content }: JsonObject): string | undefined {
  if (type === 'reasoning') return asText(content)
  const reasoning = type === 'reasoningContent' && isObject(content) ? content.reasoningText : undefined
  return isObject(reasoning) ? asText(reasoning.text) : undefined
}

/** Strands has the blocks of a result. */
const resultOf = (value: unknown): unknown => (isBlockList(value) ? value : asText(value))

const isBlockList = (value: unknown): boolean =>
  isObjectList(value) && value.every(({ text }) => typeof text === 'string')

const textOf = (parts: readonly JsonObject[]): string => parts.map(({ content }) => asText(content)).join('')
const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** An event of a span. */
export interface SpanEvent {
  readonly name: unknown
  readonly attributes: JsonObject
}

/** The event of the newer conventions, which has the attributes of a span. */
export const DETAILS = 'gen_ai.client.inference.operation.details'

/** Returns the messages of a request that a span has as events. */
export const eventMessages = (events: readonly SpanEvent[]): readonly JsonObject[] =>
  events.flatMap(({ name, attributes }) => {
    const role =
      typeof name === 'string' ? /^gen_ai\.(system|user|assistant|tool)\.message$/.exec(name)?.[1] : undefined
    return role === undefined ? [] : [messageOfEvent(role, attributes)]
  })

/** Returns the message of the model in an event; undefined if no event has one. */
export const choiceMessage = (events: readonly SpanEvent[]): JsonObject | undefined =>
  events
    .filter(({ name }) => name === 'gen_ai.choice')
    .map(({ attributes }) => ({
      ...messageOfEvent('assistant', attributes),
      finish_reason: attributes.finish_reason,
    }))[0]

/** The content is a text, or the JSON of blocks, in which results of tools are blocks of a user. */
function messageOfEvent(role: string, { content, message, id, tool_calls: calls }: JsonObject): JsonObject {
  if (isObject(message)) return { role, ...message }
  const written = content ?? message ?? ''
  const list = parseNestedJson(written)
  const blocks = isObjectList(list) ? list.map(strandsBlock) : undefined
  const hasResults = blocks?.some((block) => 'toolResult' in block) ?? false
  return {
    role: hasResults ? 'user' : role,
    content: blocks ?? asText(written),
    ...(role === 'tool' && { tool_call_id: id }),
    ...(calls !== undefined && { tool_calls: parseNestedJson(calls) }),
  }
}

const isObjectList = (value: unknown): value is readonly JsonObject[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject)

/** The TypeScript SDK of Strands writes the blocks of a reply without the key that names them. */
function strandsBlock(block: JsonObject): JsonObject {
  const { type } = block
  return type === 'toolUse' || type === 'toolResult' ? { [type]: block } : block
}
