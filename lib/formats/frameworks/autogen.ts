/** Messages and events of AutoGen's agents. Thoughts and calls of one reply are events of their own, as are the results of calls. */
import { isObject, type JsonObject, objectsIn } from '#lib/json/json-object.ts'
import { type SessionMessage, sessionSegments } from '../conversations/session-messages.ts'
import { outcomeOfMessages, recordsOf, textTrajectory } from '../conversations/text-trajectory.ts'
import { isoText } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { usageField } from '../replies/chat-reply.ts'

const NAME = 'autogen'

/** The format of the messages of a run. */
export const autogen: Format = {
  name: NAME,
  label: 'AutoGen',
  keeps: 'Messages, thoughts, calls, results and counts. Texts only.',
  joins: 'list',
  sniff: (value) =>
    isObject(value) && typeof value.source === 'string' && typeof value.type === 'string' && 'models_usage' in value,
  read: catchRefusals((value, source) => {
    const messages: SessionMessage[] = []
    let thoughts: unknown[] = []
    for (const { record, path } of recordsOf(value)) {
      if (record.type === 'ThoughtEvent') thoughts.push(record.content)
      else {
        messages.push(...messagesOf(record, thoughts, `${path}content`))
        thoughts = []
      }
    }
    const segments = sessionSegments(messages)
    const events = recordsOf(value).map(({ record: { content: _, ...rest } }) => rest)
    return [
      textTrajectory(
        {
          format: NAME,
          segments,
          outcome: outcomeOfMessages(segments),
          createdAt: isoText(events[0]?.created_at),
          lacked: ['system messages and tools: the agents add them to each request'],
          rest: { events },
        },
        source,
      ),
    ]
  }),
}

/** Returns the messages of an event in the notation of chat completions. */
function messagesOf(event: JsonObject, thoughts: readonly unknown[], path: string): readonly SessionMessage[] {
  const { type, source, content, models_usage: usage } = event
  switch (type) {
    case 'ToolCallExecutionEvent':
      return objectsIn(content).map(({ call_id, name, content: result, is_error }) => ({
        message: { role: 'tool', tool_call_id: call_id, name, content: result, is_error },
        path,
      }))
    // It repeats the results for other agents.
    case 'ToolCallSummaryMessage':
      return []
    default: {
      const calls =
        type === 'ToolCallRequestEvent'
          ? objectsIn(content).map(({ id, name, arguments: input }) => ({ id, function: { name, arguments: input } }))
          : []
      const text = calls.length > 0 ? '' : typeof content === 'string' ? content : JSON.stringify(content)
      if (source === 'user') return [{ message: { role: 'user', content: text }, path }]
      const reply = { role: 'assistant', content: text, reasoning_content: thoughts.join('\n'), tool_calls: calls }
      return [{ message: reply, path, about: usageField(usage) }]
    }
  }
}
