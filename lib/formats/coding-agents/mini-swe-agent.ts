/** Trajectories of mini-swe-agent, which have messages only. */
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Outcome } from '#lib/trajectory/format/trajectory.ts'
import { conversationSegments, textTrajectory } from '../conversations/text-trajectory.ts'
import type { Format } from '../format.ts'
import { catchRefusals, refuse } from '../reading/record-error.ts'

const NAME = 'mini-swe-agent'

/** The format of mini-swe-agent. */
export const miniSweAgent: Format = {
  name: NAME,
  label: 'mini-swe-agent',
  keeps: 'Messages, calls, results, exit status and configuration. Texts only.',
  sniff: (value) =>
    isObject(value) && typeof value.trajectory_format === 'string' && value.trajectory_format.startsWith(NAME),
  read: catchRefusals((value, source) => {
    const record = value as JsonObject
    if (!Array.isArray(record.messages)) return refuse('messages', 'a list of messages', record.messages)
    // The last message says how the agent ended, and no model reads it.
    const messages = record.messages.filter((message) => !isObject(message) || message.role !== 'exit')
    const info = isObject(record.info) ? record.info : {}
    const config = isObject(info.config) ? info.config : {}
    const model = isObject(config.model) ? config.model.model_name : undefined
    return [
      textTrajectory(
        {
          format: NAME,
          segments: conversationSegments(messages, 'messages'),
          outcome: outcomeOf(info.exit_status),
          model: typeof model === 'string' ? model : undefined,
          rest: without(record, ['messages']),
        },
        source,
      ),
    ]
  }),
}

function outcomeOf(status: unknown): Outcome {
  if (status === 'Submitted') return { kind: 'ended', reason: 'end_turn' }
  const isLimit = typeof status === 'string' && /limit|exceeded|timeout/i.test(status)
  return { kind: 'ended', reason: isLimit ? 'truncated' : 'unknown' }
}
