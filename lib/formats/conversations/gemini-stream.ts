/** The chunks of a streamed reply of Gemini: server-sent events, or the JSON list that streamGenerateContent returns without `alt=sse`. */
import { isObject, type JsonObject, objectsIn } from '#lib/json/json-object.ts'
import type { Format } from '../format.ts'
import { refuse } from '../reading/record-error.ts'
import { choicesByIndex, mergedFields, withoutNullFields } from '../replies/chat-chunks.ts'
import { streamFormat } from '../replies/streams.ts'
import { gemini, geminiField, isGeminiReply, isWholeReply } from './gemini.ts'

/** The format of streamed replies. */
export const geminiStream: Format = streamFormat(gemini, isChunk, joinedReply, streamsOf)

/** The last chunk may have the counts alone, and the only one of a refused prompt has no candidates. */
function isChunk(value: unknown): value is JsonObject {
  if (isGeminiReply(value)) return true
  if (!isObject(value) || !isObject(geminiField(value, 'usage_metadata'))) return false
  return geminiField(value, 'model_version') !== undefined
}

/** Chunks of older versions have no id: a stream ends with the reason for it. */
function streamsOf(chunks: readonly JsonObject[]): Iterable<readonly JsonObject[]> {
  let count = 0
  let hasEnded = false
  return Map.groupBy(chunks, (chunk) => {
    if (hasEnded && isGeminiReply(chunk)) {
      count++
      hasEnded = false
    }
    hasEnded ||= isWholeReply(chunk)
    return geminiField(chunk, 'response_id') ?? count
  }).values()
}

function joinedReply(chunks: readonly JsonObject[]): JsonObject {
  const candidates = choicesByIndex(chunks, 'candidates')
  if (candidates.length === 0)
    refuse(
      'candidates',
      'at least one candidate',
      chunks.map((chunk) => geminiField(chunk, 'prompt_feedback')).find(Boolean),
    )
  return { ...mergedFields(chunks), candidates: candidates.map(joinedCandidate) }
}

function joinedCandidate(parts: readonly JsonObject[]): JsonObject {
  const results = parts.flatMap((part) => objectsIn([geminiField(part, 'logprobs_result')]))
  // If a text has no logprobs, those of the others are not the tokens of the reply.
  const isComplete = parts.every((part) => geminiField(part, 'logprobs_result') !== undefined || !hasText(part))
  const listed = (name: string) => results.flatMap((result) => objectsIn(geminiField(result, name)))
  return {
    ...mergedFields(parts),
    content: {
      role: 'model',
      parts: joinedParts(parts.flatMap(({ content }) => (isObject(content) ? objectsIn(content.parts) : []))),
    },
    ...(results.length > 0 && {
      logprobsResult: undefined,
      ...(isComplete
        ? {
            logprobs_result: {
              chosen_candidates: listed('chosen_candidates'),
              top_candidates: listed('top_candidates'),
            },
          }
        : { logprobs_result: undefined, logprobs_results: results }),
    }),
  }
}

const hasText = ({ content }: JsonObject): boolean =>
  isObject(content) && objectsIn(content.parts).some(({ text, thought }) => thought !== true && isFilled(text))

const isFilled = (text: unknown): boolean => typeof text === 'string' && text !== ''

/** Texts that follow each other are one, and so are thoughts. */
function joinedParts(parts: readonly JsonObject[]): readonly JsonObject[] {
  const joined: JsonObject[] = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (last && continues(part, last))
      joined.splice(-1, 1, { ...last, ...withoutNullFields(part), text: `${last.text}${part.text}` })
    else joined.push(part)
  }
  return joined
}

const continues = (part: JsonObject, before: JsonObject): boolean =>
  typeof part.text === 'string' && typeof before.text === 'string' && part.thought === before.thought
