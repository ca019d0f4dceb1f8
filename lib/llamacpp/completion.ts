/**
 * Sends token ids to /completion of llama.cpp's server. Replies are fetched whole: its streams leave out the ids of tokens that end
 * inside a character, so a streamed reply could not be trained on.
 */
import { ENGINE_CAPABILITIES, whyUnsupported } from '#lib/api/engine/unsupported.ts'
import type { Connection } from '#lib/engine/connection.ts'
import { EngineError } from '#lib/engine/http/errors.ts'
import { jsonOf, parseReply } from '#lib/engine/http/json-reply.ts'
import { type Server, tryRepeatedly } from '#lib/engine/http/retry.ts'
import { type Chunk, replyReader } from '#lib/engine/reply.ts'
import { checkRequest, type GenerateRequest } from '#lib/engine/request.ts'
import { ENGINE_PARAMETERS, unsupportedParameter } from '#lib/sampling/engine-parameters.ts'
import { type SamplingName, samplingNames } from '#lib/sampling/parameters.ts'
import { refusalText } from '#lib/sampling/refusal.ts'
import type { Sampling } from '#lib/sampling/values.ts'
import { loraField } from './adapters.ts'
import { completionReplySchema, replyPart } from './reply.ts'

const PATH = '/completion'

/** Yields the whole reply as one chunk. Throws EngineError, or the reason of the signal. */
export async function* complete(
  server: Server & Pick<Connection, 'info'>,
  request: GenerateRequest,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  const { apiKey, info } = server
  const json = completionBody(request)
  const lora = request.adapter === undefined ? undefined : await loraField(request.adapter, info, signal)
  const posting = () => {
    const body = JSON.stringify({ ...json, ...(lora && { lora }) })
    // The server has no request ids.
    return { path: PATH, body: () => body, rid: request.rid, expected: request.expected }
  }
  yield* tryRepeatedly(
    server,
    posting,
    async function* (reply) {
      const value = parseReply(await jsonOf(reply, apiKey), completionReplySchema, PATH, apiKey)
      const reader = replyReader({ ...request, mostTokens: request.sampling.max_new_tokens })
      yield reader.read(replyPart(value, request.topLogprobsNum, apiKey))
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
export function completionBody(request: GenerateRequest): Record<string, unknown> {
  checkRequest(request)
  const { inputIds, sampling, logprobStartLen, scoreOnly, topLogprobsNum } = request
  const refused =
    scoreOnly || logprobStartLen !== undefined
      ? whyUnsupported('promptLogprobs', ENGINE_CAPABILITIES['llama.cpp'])
      : unsupportedParameter('llama.cpp', sampling)
  if (refused) throw new EngineError('REQUEST_REFUSED', refusalText(refused))
  return {
    ...NEUTRAL,
    ...furtherOf(sampling),
    ...Object.fromEntries(
      samplingNames.flatMap((name) => {
        const sent = ENGINE_PARAMETERS['llama.cpp'][name]
        return sent === undefined || sampling[name] === undefined ? [] : [[sent, sentValue(name, sampling)]]
      }),
    ),
    // The penalties count all tokens, not the last 64.
    repeat_last_n: inputIds.length + (sampling.max_new_tokens ?? 0),
    prompt: inputIds,
    stream: false,
    return_tokens: true,
    cache_prompt: true,
    // Without a number of alternatives no logprobs are returned.
    n_probs: Math.max(1, topLogprobsNum),
    post_sampling_probs: false,
  }
}

/** Returns the parameters outside of the table: `sentSampling` puts them on the same level. */
const furtherOf = (sampling: Sampling): Record<string, unknown> =>
  Object.fromEntries(Object.entries(sampling).filter(([name]) => !samplingNames.some((known) => known === name)))

/** Returns a value in llama.cpp's form. */
function sentValue(name: SamplingName, sampling: Sampling): unknown {
  switch (name) {
    case 'top_k':
      return Math.max(0, sampling.top_k ?? 0)
    case 'logit_bias':
      return Object.entries(sampling.logit_bias ?? {}).map(([id, bias]) => [Number(id), bias])
    case 'json_schema':
      return JSON.parse(sampling.json_schema ?? '{}')
    default:
      return sampling[name]
  }
}
