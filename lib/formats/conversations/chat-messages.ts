/**
 * Lists of messages: fine-tuning JSONL of OpenAI and datasets of Hugging Face with a column `messages`, with tools, reward and group
 * where the file has them. A list alone is a conversation too, also one of items of the Responses API.
 */
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { isItem } from '#lib/trajectory/messages/response-items.ts'
import type { Format, RecordSource } from '../format.ts'
import { nextGroupMember } from '../group-members.ts'
import { readTools } from '../messages.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { slimeOutcome } from '../trainers/slime.ts'
import { conversationSegments, outcomeOfMessages, textTrajectory } from './text-trajectory.ts'

const NAME = 'messages'

/** The format of messages. */
export const chatMessages: Format = {
  name: NAME,
  label: 'messages',
  keeps: 'Messages, reasoning, calls, tools, reward and group. Texts only.',
  sniff: (value) => isMessageList(value) || isConversation(value),
  read: catchRefusals((value, source) => {
    if (Array.isArray(value)) return [listTrajectory(value, NAME, source)]
    const record = value as JsonObject & { readonly messages: readonly unknown[] }
    const segments = conversationSegments(record.messages.map(withWeight), 'messages')
    const status = typeof record.status === 'string' ? record.status : undefined
    const group = groupOf(record, source)
    const rewards = [record.reward, record.score].filter((one) => one !== undefined && one !== null)
    const reward = rewards.find((one) => typeof one === 'number' || typeof one === 'boolean') ?? rewards[0]
    return [
      textTrajectory(
        {
          format: NAME,
          segments,
          reward,
          ...(group && { group }),
          outcome: (status !== undefined && slimeOutcome(status)) || outcomeOfMessages(segments),
          model: typeof record.model === 'string' ? record.model : undefined,
          tools: readTools(record.tools),
          rest: without(record, [
            'messages',
            'tools',
            'model',
            ...(typeof record.reward === 'number' ? ['reward'] : []),
            ...(group ? GROUP : []),
          ]),
        },
        source,
      ),
    ]
  }),
}

/** The format of messages that are records: a list of them, a message in each line, or a list in each line. */
export const messageLines: Format = {
  name: 'message-list',
  label: 'list of messages',
  keeps: 'Messages, reasoning and calls. Texts only.',
  joins: 'list',
  sniff: isMessage,
  read: catchRefusals((value, source) => [listTrajectory(value as readonly unknown[], 'message-list', source)]),
}

/** Returns the trajectory of messages without anything beside them. */
function listTrajectory(messages: readonly unknown[], format: string, source: RecordSource): Trajectory {
  const segments = conversationSegments(withRolesOfModel(messages), '')
  return textTrajectory({ format, segments, outcome: outcomeOfMessages(segments), rest: undefined }, source)
}

/**
 * Returns the messages with the roles that a model sees. AG2 writes a chat as the agent sees it that began it: what this agent says is of
 * the assistant, and the reply of the model is of the user. No model writes the first message of a chat.
 */
function withRolesOfModel(messages: readonly unknown[]): readonly unknown[] {
  const [first] = messages
  if (!isSpoken(first) || first.role !== 'assistant') return messages
  if (!messages.some((message) => isSpoken(message) && message.role === 'user' && message.name !== first.name))
    return messages
  return messages.map((message) =>
    isSpoken(message) ? { ...message, role: message.name === first.name ? 'user' : 'assistant' } : message,
  )
}

/** Returns whether a message is of an agent with a name. AG2 gives calls to the assistant, whoever sees them. */
const isSpoken = (message: unknown): message is JsonObject =>
  isObject(message) &&
  typeof message.name === 'string' &&
  (message.role === 'user' || message.role === 'assistant') &&
  !message.tool_calls

/** Returns whether a value is a list of messages: one conversation, and no list of records. */
export const isMessageList = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(isMessage)

function isMessage(value: unknown): boolean {
  return (
    (isObject(value) && typeof value.role === 'string' && ('content' in value || 'tool_calls' in value)) ||
    isItem(value)
  )
}

const GROUP = ['group_index', 'sample_index']

/** ART numbers only the groups. */
function groupOf({ group_index, sample_index }: JsonObject, source: RecordSource): Trajectory['group'] {
  if (!Number.isSafeInteger(group_index)) return undefined
  if (sample_index === undefined) return nextGroupMember(source, String(group_index))
  return Number.isSafeInteger(sample_index) && (sample_index as number) >= 0
    ? { id: String(group_index), index: sample_index as number }
    : undefined
}

/** ART marks the messages that the policy did not write. Those of the model are not trained. */
function withWeight(message: unknown): unknown {
  const isGiven = isObject(message) && message.role === 'assistant' && message.trainable === false
  return isGiven ? { ...message, weight: 0 } : message
}

function isConversation(value: unknown): boolean {
  if (!isObject(value) || !Array.isArray(value.messages) || value.messages.length === 0) return false
  return !hasIds(value) && value.messages.every((message) => isObject(message) && typeof message.role === 'string')
}

/** Returns whether a record has lists of ids. They belong to a format that reads them: messages alone would lose them. */
export const hasIds = (record: JsonObject): boolean =>
  Object.entries(record).some(([key, list]) => /token|ids$/.test(key) && isNumbers(list))

const isNumbers = (list: unknown): boolean => Array.isArray(list) && typeof list[0] === 'number'
