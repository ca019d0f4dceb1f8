/** Replies of vLLM's /inference/v1/generate, which takes and returns ids. */
import { isObject, type JsonObject } from '#lib/json/json-object.ts'
import type { Format } from '../format.ts'
import { samplesOf } from './chat-completion.ts'
import { chatCalls } from './chat-reply.ts'
import { refusing } from './record-error.ts'

const NAME = 'vllm-generate'

/** The format of whole replies. */
export const vllmGenerate: Format = {
  name: NAME,
  label: 'vLLM /inference/v1/generate',
  keeps: 'Ids, logprobs and alternatives of the reply, finish reason, weight versions.',
  sniff: (value) =>
    isObject(value) &&
    'request_id' in value &&
    Array.isArray(value.choices) &&
    value.choices.some((choice) => isObject(choice) && Array.isArray(choice.token_ids) && !('text' in choice)),
  read: refusing((value, source) =>
    samplesOf(chatCalls(value as JsonObject, undefined), value as JsonObject, { format: NAME }, source),
  ),
}
