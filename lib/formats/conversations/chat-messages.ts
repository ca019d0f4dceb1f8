/**
 * Lists of messages: fine-tuning JSONL of OpenAI and datasets of Hugging Face with a column `messages`, with tools, reward and group
 * where the file has them.
 */
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { Format } from '../format.ts'
import { readTools } from '../messages.ts'
import { refusing } from '../reading/record-error.ts'
import { outcomeOf } from '../slime.ts'
import { conversationSegments, outcomeOfMessages, textTrajectory } from './text-trajectory.ts'

const NAME = 'messages'

/** The format of messages. */
export const chatMessages: Format = {
  name: NAME,
  label: 'messages',
  keeps: 'Messages, reasoning, calls, tools, reward and group. Texts only.',
  sniff: isConversation,
  read: refusing((value, source) => {
    const record = value as JsonObject & { readonly messages: readonly unknown[] }
    const segments = conversationSegments(record.messages, 'messages')
    const status = typeof record.status === 'string' ? record.status : undefined
    const group = groupOf(record)
    const reward = [record.reward, record.score].find((one) => typeof one === 'number')
    return [
      textTrajectory(
        {
          format: NAME,
          segments,
          reward,
          ...(group && { group }),
          outcome: (status !== undefined && outcomeOf(status)) || outcomeOfMessages(segments),
          model: typeof record.model === 'string' ? record.model : undefined,
          tools: readTools(record.tools),
          rest: without(record, [
            'messages',
            'tools',
            'model',
            ...(reward === record.reward ? ['reward'] : []),
            ...(group ? GROUP : []),
          ]),
        },
        source,
      ),
    ]
  }),
}

const GROUP = ['group_index', 'sample_index']

function groupOf({ group_index, sample_index }: JsonObject): Trajectory['group'] {
  return Number.isSafeInteger(group_index) && Number.isSafeInteger(sample_index) && (sample_index as number) >= 0
    ? { id: String(group_index), index: sample_index as number }
    : undefined
}

/** Lists of ids belong to a format that reads them: messages alone would lose them. */
function isConversation(value: unknown): boolean {
  if (!isObject(value) || !Array.isArray(value.messages) || value.messages.length === 0) return false
  const hasIds = Object.entries(value).some(([key, list]) => /token|ids$/.test(key) && isNumbers(list))
  return !hasIds && value.messages.every((message) => isObject(message) && typeof message.role === 'string')
}

const isNumbers = (list: unknown): boolean => Array.isArray(list) && typeof list[0] === 'number'
