/** Messages in the attributes of OpenTelemetry’s GenAI conventions: JSON texts or lists of `{role, parts}`. */
import { type JsonObject, objectsIn } from '#lib/json/json-object.ts'
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
    .map(({ id, response, result }) => ({ role: 'tool', tool_call_id: id, content: asText(response ?? result) }))
  if (results.length > 0) return results
  const calls = all.filter(({ type }) => type === 'tool_call')
  const thoughts = all.filter(({ type }) => type === 'reasoning')
  return [
    {
      role,
      content: textOf(all.filter(({ type }) => type === 'text')),
      ...(thoughts.length > 0 && { reasoning_content: textOf(thoughts) }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, arguments: input }) => ({ id, function: { name, arguments: input } })),
      }),
      ...fields,
    },
  ]
}

const textOf = (parts: readonly JsonObject[]): string => parts.map(({ content }) => asText(content)).join('')
const asText = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
