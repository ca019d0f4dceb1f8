/** Replies of vLLM's /inference/v1/generate, whole and streamed, which takes and returns ids. */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import type { Format } from '../format.ts'
import { catchRefusals } from '../reading/record-error.ts'
import { choicesByIndex, lists, mergedFields } from './chat-chunks.ts'
import { choiceTrajectories, NO_PAIR, pairIn } from './chat-completion.ts'
import { joinedLists, streamFormat } from './streams.ts'

const NAME = 'vllm-generate'

/** The format of whole replies, with the request beside it if the file has it: only the request has the ids of the prompt. */
export const vllmGenerate: Format = {
  name: NAME,
  label: 'vLLM /inference/v1/generate',
  keeps: 'Ids, logprobs and alternatives of prompt and reply, finish reason, weight versions.',
  sniff: (value) => isWhole(value) || pairIn(value, isWhole) !== undefined,
  read: catchRefusals((value, source) =>
    choiceTrajectories(pairIn(value, isWhole) ?? { ...NO_PAIR, reply: value as JsonObject }, NAME, source),
  ),
}

/** The format of streamed replies. Each chunk has some ids of one choice, and the last one may have the counts alone. */
export const vllmGenerateStream: Format = streamFormat(vllmGenerate, isChunk, joinedReply)

/** Returns whether a value is a reply with ids and without texts. */
function isReply(value: unknown): value is JsonObject & { readonly choices: readonly JsonObject[] } {
  return isObject(value) && 'request_id' in value && Array.isArray(value.choices) && value.choices.every(hasIdsOnly)
}

const hasIdsOnly = (choice: unknown): boolean =>
  isObject(choice) && Array.isArray(choice.token_ids) && !['text', 'message', 'delta'].some((key) => key in choice)

/** Only the choices of chunks have a finish reason that is null. */
const isWhole = (value: unknown): value is JsonObject =>
  isReply(value) && value.choices.length > 0 && value.choices.every(({ finish_reason }) => finish_reason !== null)

function isChunk(value: unknown): value is JsonObject {
  return isReply(value) && (value.choices.length > 0 || isObject(value.usage))
}

function joinedReply(chunks: readonly JsonObject[]): JsonObject {
  return {
    ...mergedFields(chunks),
    choices: choicesByIndex(chunks).map((parts) => ({
      ...mergedFields(parts),
      ...lists(parts, ['token_ids']),
      logprobs: {
        content: joinedLists(
          parts.map(({ logprobs }) => (isObject(logprobs) ? logprobs : {})),
          'content',
        ),
      },
    })),
  }
}
