/** The events of a streamed reply of Anthropic's Messages API, joined as its own client joins them. */
import { isObject, type JsonObject, objectsIn } from '#lib/json/json-object.ts'
import type { Format } from '../format.ts'
import { mergedFields, withoutNullFields } from '../replies/chat-chunks.ts'
import { joinedTexts, lastOf, streamFormat, streamsFrom } from '../replies/streams.ts'
import { anthropic } from './anthropic.ts'

/** The format of streamed replies. */
export const anthropicStream: Format = streamFormat(
  anthropic,
  isEvent,
  joinedMessage,
  streamsFrom(({ type }) => type === 'message_start'),
)

const BLOCK_EVENTS: readonly unknown[] = ['content_block_start', 'content_block_delta', 'content_block_stop']
const EVENTS: readonly unknown[] = [...BLOCK_EVENTS, 'message_start', 'message_delta', 'message_stop', 'ping']

function isEvent(value: unknown): value is JsonObject {
  if (!isObject(value)) return false
  return EVENTS.includes(value.type) || (value.type === 'error' && isObject(value.error))
}

function joinedMessage(events: readonly JsonObject[]): JsonObject {
  const message = mergedFields(fieldsOf(events, 'message'))
  const changes = events.filter(({ type }) => type === 'message_delta')
  const blocks = Map.groupBy(
    events.filter(({ type }) => BLOCK_EVENTS.includes(type)),
    ({ index }) => index,
  )
  const [error] = fieldsOf(events, 'error')
  return {
    ...message,
    ...mergedFields(fieldsOf(changes, 'delta')),
    type: 'message',
    role: 'assistant',
    content: Array.from(blocks.values(), joinedBlock),
    // Counts of a change are totals.
    usage: mergedFields(fieldsOf([message, ...changes], 'usage')),
    ...(error && { stop_reason: `${error.type}: ${error.message}` }),
  }
}

/** Returns the objects that these objects have in a field. */
const fieldsOf = (objects: readonly JsonObject[], key: string): readonly JsonObject[] =>
  objectsIn(objects.map((object) => object[key]))

function joinedBlock(events: readonly JsonObject[]): JsonObject {
  const block = mergedFields(fieldsOf(events, 'content_block'))
  const deltas = fieldsOf(events, 'delta')
  const citations = fieldsOf(deltas, 'citation')
  return {
    ...block,
    ...withoutNullFields({
      text: joinedTexts([block, ...deltas], 'text'),
      thinking: joinedTexts([block, ...deltas], 'thinking'),
      signature: lastOf([block, ...deltas], 'signature'),
      input: joinedTexts(deltas, 'partial_json') ?? block.input,
      citations: citations.length > 0 ? citations : undefined,
    }),
  }
}
