/** The history of a language model of DSPy (`lm.history`): the messages of each call, and the texts of its outputs. */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import {
  completionSegments,
  conversationSegments,
  outcomeOfMessages,
  responseSegment,
  textTrajectory,
} from '../conversations/text-trajectory.ts'
import { isoText } from '../foreign-trajectory.ts'
import type { Format } from '../format.ts'
import { readTools } from '../messages.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { usageField } from '../replies/chat-reply.ts'

const NAME = 'dspy'

/** The format of the calls. */
export const dspy: Format = {
  name: NAME,
  label: 'DSPy history',
  keeps: 'Messages, outputs, reasoning, calls, tools and counts. Texts only.',
  sniff: (value) =>
    isObject(value) &&
    Array.isArray(value.outputs) &&
    isObject(value.kwargs) &&
    (Array.isArray(value.messages) || typeof value.prompt === 'string'),
  read: catchRefusals((value, source) => {
    const { prompt, messages, outputs, usage, model, timestamp, uuid, kwargs, ...others } = value as Call
    const before = Array.isArray(messages)
      ? conversationSegments(messages, 'messages')
      : completionSegments(prompt, [], { prompt: 'prompt', completion: 'outputs' })
    return outputs.map((output, index) => {
      const segments = [...before, { ...responseSegment(messageOf(output)), ...usageField(usage) }]
      return textTrajectory(
        {
          format: NAME,
          segments,
          ...(outputs.length > 1 && { group: { id: String(uuid), index } }),
          outcome: outcomeOfMessages(segments),
          model: typeof model === 'string' ? model : undefined,
          tools: readTools(kwargs.tools),
          createdAt: isoText(timestamp),
          rest: { ...others, kwargs, uuid },
        },
        source,
      )
    })
  }),
}

interface Call extends JsonObject {
  readonly outputs: readonly unknown[]
  readonly kwargs: JsonObject
}

/** An output is a text, or an object if it has more than a text. */
function messageOf(output: unknown): JsonObject {
  const { text, ...others } = isObject(output) ? output : { text: output }
  return { ...others, role: 'assistant', content: text ?? '' }
}
