/**
 * Sends token ids to /completion of llama.cpp's server. Replies are fetched whole: its streams leave out the ids of tokens that end
 * inside a character, so a streamed reply could not be trained on.
 */
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import type { ServerConnection } from '#lib/engine/connection.ts'
import { jsonOf, parseReply } from '#lib/engine/http/json-reply.ts'
import { type Server, tryRepeatedly } from '#lib/engine/http/retry.ts'
import { refuseCapability } from '#lib/engine/refusal.ts'
import { type Chunk, replyReader } from '#lib/engine/reply.ts'
import { checkRequest, type GenerateRequest, mostReplyBytes } from '#lib/engine/request.ts'
import { toSamplingFields, type ValueForms } from '#lib/engine/sampling-fields.ts'
import { loraField } from './adapters.ts'
import { completionReplySchema, engineReply } from './reply.ts'

const PATH = '/completion'

/** Yields the whole reply as one chunk. Throws EngineError, or the reason of the signal. */
export async function* complete(
  server: Server & Pick<ServerConnection, 'info'>,
  request: GenerateRequest,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  const { apiKey, info } = server
  const json = toCompletionBody(request)
  const lora = request.adapter === undefined ? undefined : await loraField(request.adapter, info, signal)
  const posting = () => {
    const body = JSON.stringify({ ...json, ...(lora && { lora }) })
    // The server has no request ids.
    return {
      path: PATH,
      body: () => body,
      rid: request.rid,
      replyBytes: mostReplyBytes(request),
      expected: request.expected,
    }
  }
  yield* tryRepeatedly(
    server,
    posting,
    async function* (reply) {
      const value = parseReply(await jsonOf(reply, apiKey), completionReplySchema, PATH, apiKey)
      const reader = replyReader({ ...request, mostTokens: request.sampling.max_new_tokens })
      yield reader.read(engineReply(value, request.topLogprobsNum, apiKey))
    },
    signal,
  )
}

/**
 * The server's command line can change any default, and its own are not neutral (temperature 0.8, top_k 40, top_p 0.95, min_p 0.05, a
 * penalty over the last 64 tokens), so every parameter that changes sampling is sent.
 */
const NEUTRAL = {
  temperature: 1,
  top_k: 0,
  top_p: 1,
  min_p: 0,
  frequency_penalty: 0,
  presence_penalty: 0,
  repeat_penalty: 1,
  typical_p: 1,
  top_n_sigma: -1,
  xtc_probability: 0,
  dry_multiplier: 0,
  mirostat: 0,
  dynatemp_range: 0,
  ignore_eos: false,
  // A random seed.
  seed: -1,
}

/** Returns the body of a request. Throws EngineError REQUEST_REFUSED for what llama.cpp cannot do. */
export function toCompletionBody(request: GenerateRequest): Record<string, unknown> {
  checkRequest(request)
  const { inputIds, sampling, logprobStartLen, scoreOnly, topLogprobsNum } = request
  if (scoreOnly || logprobStartLen !== undefined) refuseCapability('promptLogprobs', ENGINE_CAPABILITIES['llama.cpp'])
  return {
    ...NEUTRAL,
    // The penalties count all tokens, not the last 64.
    repeat_last_n: inputIds.length + (sampling.max_new_tokens ?? 0),
    ...toSamplingFields(sampling, 'llama.cpp', FORMS),
    prompt: inputIds,
    stream: false,
    return_tokens: true,
    cache_prompt: true,
    // Without a number of alternatives no logprobs are returned.
    n_probs: Math.max(1, topLogprobsNum),
    post_sampling_probs: false,
  }
}

/** Values in forms of llama.cpp's own. */
const FORMS: ValueForms = {
  logit_bias: ({ logit_bias: biases = {} }) => Object.entries(biases).map(([id, bias]) => [Number(id), bias]),
}
