/** Conversations of LangChain and LangGraph: a list of messages, or a state with `messages`. */
import { isObject, type JsonObject, without } from '#lib/json/json-object.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import type { Format, RecordSource } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { isLangchainMessage, langchainMessage } from './langchain-message.ts'
import { conversationSegments, outcomeOfMessages, textTrajectory } from './text-trajectory.ts'

const NAME = 'langchain'

/** The format of messages of LangChain. */
export const langchain: Format = {
  name: NAME,
  label: 'messages of LangChain and LangGraph',
  keeps: 'Messages, reasoning, calls and results; the model. Texts only.',
  joins: 'list',
  sniff: (value) => isLangchainMessage(value) || isState(value),
  read: catchRefusals((value, source) => {
    const records = [value].flat()
    const messages = records.flatMap((record, index) => (isLangchainMessage(record) ? [{ record, index }] : []))
    const states = records.flatMap((record, index) => (isState(record) ? [{ record, index }] : []))
    const own = { messages: messages.map(({ record }) => record), rest: undefined }
    return [
      ...(messages.length > 0 ? [conversationOf(own, (at) => `[${messages[at]?.index}]`, source)] : []),
      ...states.map(({ record, index }) => {
        const state = { messages: record.messages, rest: without(record, ['messages']) }
        return conversationOf(state, (at) => `[${index}].messages[${at}]`, source)
      }),
    ]
  }),
}

interface State extends JsonObject {
  readonly messages: readonly JsonObject[]
}

const isState = (value: unknown): value is State =>
  isObject(value) &&
  Array.isArray(value.messages) &&
  value.messages.length > 0 &&
  value.messages.every(isLangchainMessage)

interface Conversation {
  readonly messages: readonly JsonObject[]
  readonly rest: JsonObject | undefined
}

function conversationOf(
  { messages, rest }: Conversation,
  pathOf: (index: number) => string,
  source: RecordSource,
): Trajectory {
  const read = messages.map(langchainMessage)
  const segments = conversationSegments(read, pathOf)
  const models = read.flatMap(({ response_metadata: metadata }) => (isObject(metadata) ? [metadata.model_name] : []))
  const model = models.findLast((name) => typeof name === 'string')
  return textTrajectory({ format: NAME, segments, outcome: outcomeOfMessages(segments), model, rest }, source)
}
