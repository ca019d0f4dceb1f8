/**
 * The events of a streamed response of the Responses API. The last event has the whole response. If the stream was cut, the response
 * consists of the items that arrived.
 */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import type { Format } from '../format.ts'
import { withoutNullFields } from './chat-chunks.ts'
import { responses } from './responses.ts'
import { joinedLists, joinedTexts, lastOf, partsByIndex, streamFormat, streamsFrom } from './streams.ts'

/** The format of streamed responses. */
export const streamedResponses: Format = streamFormat(
  responses,
  isEvent,
  joinedResponse,
  streamsFrom(({ type }) => type === 'response.created'),
)

interface ResponseEvent extends JsonObject {
  readonly type: string
}

function isEvent(value: unknown): value is ResponseEvent {
  if (!isObject(value) || typeof value.type !== 'string') return false
  return value.type.startsWith('response.') || (OF_CONNECTION.includes(value.type) && 'sequence_number' in value)
}

const OF_CONNECTION = ['error', 'keepalive']

function joinedResponse(events: readonly ResponseEvent[]): JsonObject {
  const found = lastOf(events, 'response')
  const response = isObject(found) ? found : {}
  const error = events.find(({ type }) => type === 'error')
  const isWhole = Array.isArray(response.output) && response.output.length > 0
  return {
    ...response,
    object: 'response',
    output: isWhole ? response.output : itemsOf(events),
    ...(error && { status: 'failed', error: { code: error.code, message: error.message } }),
  }
}

/** Returns the items that arrived, in the order of their index. */
function itemsOf(events: readonly ResponseEvent[]): readonly JsonObject[] {
  const ofItems = events.filter(({ output_index: index }) => typeof index === 'number')
  return partsByIndex(ofItems, 'output_index').flatMap(itemOf)
}

/** The event at the end of an item has all of it. */
function itemOf(events: readonly ResponseEvent[]): readonly JsonObject[] {
  const item = lastOf(events, 'item')
  if (!isObject(item)) return []
  if (events.some(({ type }) => type === 'response.output_item.done')) return [item]
  const deltasOf = (name: string) => events.filter(({ type }) => type === `response.${name}.delta`)
  const content = [
    ...partsOf(deltasOf('output_text'), 'output_text', 'text'),
    ...partsOf(deltasOf('refusal'), 'refusal', 'refusal'),
    ...partsOf(deltasOf('reasoning_text'), 'reasoning_text', 'text'),
  ]
  const summary = partsOf(deltasOf('reasoning_summary_text'), 'summary_text', 'text')
  return [
    {
      ...item,
      ...withoutNullFields({
        content: content.length > 0 ? content : undefined,
        summary: summary.length > 0 ? summary : undefined,
        arguments: joinedTexts(deltasOf('function_call_arguments'), 'delta'),
        input: joinedTexts(deltasOf('custom_tool_call_input'), 'delta'),
      }),
    },
  ]
}

/** Returns the parts of an item, whose deltas have the index of their part. */
function partsOf(deltas: readonly JsonObject[], type: string, field: string): readonly JsonObject[] {
  const byPart = Map.groupBy(deltas, ({ content_index: content, summary_index: summary }) => content ?? summary)
  return Array.from(byPart.values(), (own) =>
    withoutNullFields({ type, [field]: joinedTexts(own, 'delta'), logprobs: joinedLists(own, 'logprobs') }),
  )
}
