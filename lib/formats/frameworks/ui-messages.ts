/** Messages of the AI SDK's user interfaces: a reply has the parts of all its steps, and a call has its result. */
import { isObject, type JsonObject, objectsIn, without } from '#lib/json/json-object.ts'
import { sessionSegments } from '../conversations/session-messages.ts'
import { outcomeOfMessages, recordsOf, textTrajectory } from '../conversations/text-trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'

const NAME = 'ui-messages'

/** The format of a conversation. */
export const uiMessages: Format = {
  name: NAME,
  label: 'AI SDK UI messages',
  keeps: 'Messages, reasoning, calls and results. Texts only.',
  joins: 'list',
  sniff: (value) =>
    isObject(value) &&
    typeof value.role === 'string' &&
    Array.isArray(value.parts) &&
    value.parts.length > 0 &&
    value.parts.every((part) => isObject(part) && typeof part.type === 'string'),
  read: catchRefusals((value, source) => {
    const messages = recordsOf(value).flatMap(({ record, path }) =>
      messagesOf(record).map((message) => ({ message, path: `${path}parts` })),
    )
    const segments = sessionSegments(messages)
    const metadata = objectsIn(recordsOf(value).map(({ record }) => record.metadata))
    return [
      textTrajectory(
        {
          format: NAME,
          segments,
          outcome: outcomeOfMessages(segments),
          rest: metadata.length > 0 ? { metadata } : undefined,
        },
        source,
      ),
    ]
  }),
}

/** Returns a message in the notation of the SDK's model messages: each step is a reply, with the results of its calls after it. */
function messagesOf({ role, parts }: JsonObject): readonly JsonObject[] {
  if (role !== 'assistant') return [{ role, content: objectsIn(parts) }]
  return stepsOf(objectsIn(parts)).flatMap((step) => {
    const results = step.filter(isCall).flatMap((part) => resultOf(part) ?? [])
    return [
      { role, content: step.map((part) => (isCall(part) ? { ...callOf(part), type: 'tool-call' } : part)) },
      ...(results.length > 0 ? [{ role: 'tool', content: results }] : []),
    ]
  })
}

function stepsOf(parts: readonly JsonObject[]): readonly (readonly JsonObject[])[] {
  const steps: JsonObject[][] = [[]]
  for (const part of parts)
    if (part.type === 'step-start') steps.push([])
    else steps.at(-1)?.push(part)
  return steps.filter(({ length }) => length > 0)
}

/** The type of a part names its tool, unless the tool was found while the reply was written. */
const isCall = ({ type }: JsonObject): boolean => /^(tool-.|dynamic-tool$)/.test(String(type))

const callOf = ({ type, toolName, toolCallId, input, rawInput }: JsonObject): JsonObject => ({
  toolCallId,
  toolName: toolName ?? String(type).replace('tool-', ''),
  input: input ?? rawInput,
})

function resultOf(part: JsonObject): JsonObject | undefined {
  const { output, errorText } = part
  if (output === undefined && errorText === undefined) return undefined
  const value = errorText === undefined ? { type: 'json', value: output } : { type: 'error-text', value: errorText }
  return { ...without(callOf(part), ['input']), type: 'tool-result', output: value }
}
