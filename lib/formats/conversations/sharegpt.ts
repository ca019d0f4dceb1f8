/** ShareGPT: `conversations` of `{from, value}`. */
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import { parseNestedJson } from '#lib/json/nested-json.ts'
import type { Format } from '../format.ts'
import { readTools } from '../messages.ts'
import { catchRefusals, refuse } from '../reading/record-error.ts'
import { conversationSegments, outcomeOfMessages, textTrajectory } from './text-trajectory.ts'

const NAME = 'sharegpt'

/** The format of ShareGPT conversations. */
export const sharegpt: Format = {
  name: NAME,
  label: 'ShareGPT',
  keeps: 'Messages, calls, results and tools. Texts only.',
  sniff: (value) =>
    isObject(value) &&
    Array.isArray(value.conversations) &&
    value.conversations.length > 0 &&
    value.conversations.every((turn) => isObject(turn) && ('from' in turn || 'role' in turn)),
  read: catchRefusals((value, source) => {
    const record = value as JsonObject & { readonly conversations: readonly JsonObject[] }
    const turns = record.conversations.map((turn, index) => messageOf(turn, `conversations[${index}]`))
    const system =
      typeof record.system === 'string' && record.system !== '' ? [{ role: 'system', content: record.system }] : []
    const segments = conversationSegments([...system, ...turns], 'conversations')
    return [
      textTrajectory(
        {
          format: NAME,
          segments,
          outcome: outcomeOfMessages(segments),
          tools: readTools(record.tools),
          reward: record.reward,
          rest: without(record, [
            'conversations',
            'system',
            'tools',
            ...(typeof record.reward === 'number' ? ['reward'] : []),
          ]),
        },
        source,
      ),
    ]
  }),
}

const ROLES: Readonly<Record<string, string>> = {
  human: 'user',
  user: 'user',
  gpt: 'assistant',
  chatgpt: 'assistant',
  bing: 'assistant',
  bard: 'assistant',
  assistant: 'assistant',
  model: 'assistant',
  function_call: 'assistant',
  system: 'system',
  observation: 'tool',
  function_response: 'tool',
  tool: 'tool',
}

/** A call is the JSON of `{name, arguments}` in a turn of its own. */
function messageOf(turn: JsonObject, path: string): JsonObject {
  if (typeof turn.role === 'string') return turn
  const { from, value } = turn
  const role = typeof from === 'string' && Object.hasOwn(ROLES, from) ? ROLES[from] : undefined
  if (role === undefined) refuse(`${path}.from`, `one of ${Object.keys(ROLES).join(', ')}`, from)
  if (typeof value !== 'string') return refuse(`${path}.value`, 'a text', value)
  const call = from === 'function_call' ? parseNestedJson(value) : undefined
  return isObject(call) ? { role, content: '', tool_calls: [{ function: call }] } : { role, content: value }
}
