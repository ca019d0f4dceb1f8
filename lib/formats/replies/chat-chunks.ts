/** The chunks of a streamed chat completion (`chat.completion.chunk`). */
import { isObject, type JsonObject, objectsIn } from '#lib/json/json-object.ts'
import type { Format } from '../format.ts'
import { chatCompletion } from './chat-completion.ts'
import { joinedLists, joinedTexts, lastOf, partsByIndex, streamFormat } from './streams.ts'

/** The format of streamed chat completions. */
export const chatCompletionStream: Format = streamFormat(chatCompletion, isChunk, joinedReply)

function isChunk(value: unknown): value is JsonObject {
  if (!isObject(value) || !Array.isArray(value.choices)) return false
  return (
    value.object === 'chat.completion.chunk' ||
    value.choices.some((choice) => isObject(choice) && isObject(choice.delta))
  )
}

function joinedReply(chunks: readonly JsonObject[]): JsonObject {
  const choices = choicesByIndex(chunks)
  return {
    ...mergedFields(chunks),
    object: 'chat.completion',
    choices: choices.map((parts) => ({
      ...mergedFields(parts),
      delta: undefined,
      ...lists(parts, ['token_ids', 'response_token_ids']),
      logprobs: {
        content: joinedLists(
          parts.map(({ logprobs }) => (isObject(logprobs) ? logprobs : {})),
          'content',
        ),
      },
      message: joinedMessage(parts.map(({ delta }) => (isObject(delta) ? delta : {}))),
    })),
  }
}

/** Returns the parts of each choice of the chunks, in the order of their index. */
export const choicesByIndex = (chunks: readonly JsonObject[], key = 'choices'): readonly (readonly JsonObject[])[] =>
  partsByIndex(
    chunks.flatMap((chunk) => objectsIn(chunk[key])),
    'index',
  )

/** Returns the fields that say something: later chunks repeat fields as null. */
export const withoutNullFields = (chunk: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(chunk).filter(([, value]) => value !== null && value !== undefined))

/** Returns the fields of all chunks; the last one that says something counts. */
export function mergedFields(chunks: readonly JsonObject[]): JsonObject {
  const merged = new Map<string, unknown>()
  for (const chunk of chunks)
    for (const name of Object.keys(chunk)) {
      const value = chunk[name]
      if (value !== null && value !== undefined) merged.set(name, value)
    }
  return Object.fromEntries(merged)
}

/** Returns the joined lists of these fields that are present. */
export const lists = (parts: readonly JsonObject[], keys: readonly string[]): JsonObject =>
  withoutNullFields(Object.fromEntries(keys.map((key) => [key, joinedLists(parts, key)])))

/** Returns the message of its parts. Calls with the same index are one. */
export function joinedMessage(deltas: readonly JsonObject[]): JsonObject {
  const calls = deltas.flatMap(({ tool_calls }) => objectsIn(tool_calls))
  const byIndex = [...Map.groupBy(calls, ({ index }) => (typeof index === 'number' ? index : 0)).values()]
  return withoutNullFields({
    role: 'assistant',
    content: joinedTexts(deltas, 'content'),
    refusal: joinedTexts(deltas, 'refusal'),
    reasoning: joinedTexts(deltas, 'reasoning'),
    reasoning_content: joinedTexts(deltas, 'reasoning_content'),
    tool_calls: byIndex.length > 0 ? byIndex.map(joinedCall) : undefined,
  })
}

function joinedCall(parts: readonly JsonObject[]): JsonObject {
  const called = parts.map((part) => (isObject(part.function) ? part.function : {}))
  return withoutNullFields({
    id: lastOf(parts, 'id'),
    type: 'function',
    function: { name: joinedTexts(called, 'name') ?? '', arguments: joinedTexts(called, 'arguments') ?? '' },
  })
}
