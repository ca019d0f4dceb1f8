/**
 * Sends token ids to /v1/completions and reads the reply, whole or as a stream. A stream has no logprobs of the prompt, so a call of
 * its own fetches them. vLLM stops generating when the connection closes.
 */
import type * as z from 'zod'
import { ENGINE_CAPABILITIES } from '#lib/api/engine/unsupported.ts'
import { eventJson, eventsOf, replyWithoutEnd, startFirstTokenLimit } from '#lib/engine/http/event-stream.ts'
import { jsonOf, parseReply } from '#lib/engine/http/json-reply.ts'
import { type Server, tryRepeatedly } from '#lib/engine/http/retry.ts'
import type { HttpReply } from '#lib/engine/http/transport.ts'
import { afterReading, readPrompt } from '#lib/engine/read-prompt.ts'
import { refuseCapability } from '#lib/engine/refusal.ts'
import { type Chunk, type EngineReply, replyReader } from '#lib/engine/reply.ts'
import { checkRequest, type GenerateRequest, mostReplyBytes } from '#lib/engine/request.ts'
import { toSamplingFields } from '#lib/engine/sampling-fields.ts'
import { SAMPLING_PARAMETERS } from '#lib/sampling/parameters.ts'
import { splitCall } from '#lib/trajectory/messages/generate-call.ts'
import type { ImageEndpoint, ImageRequest } from './image-prompts.ts'
import { type Completion, completionSchema, engineReply, type ReplyRequest } from './reply.ts'

const PATH = '/v1/completions'

/** The name of the model in requests, and the form of their parameters. */
export interface CompletionTarget {
  readonly model: string
  readonly engine: 'vllm' | 'openai'
  /** Where prompts with images are sent. Undefined: nowhere. */
  readonly imageEndpoint?: ImageEndpoint | undefined
  /** The largest number of alternatives for each token. Undefined: it is unknown. */
  readonly mostAlternatives?: number | undefined
}

/** Yields the reply to a request. Throws EngineError, or the reason of the signal. */
export async function* complete(
  server: Server,
  request: GenerateRequest,
  target: CompletionTarget,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  const { scoringRid, ...whole } = request
  const one = (call: GenerateRequest) => triedCompletion(server, call, target, signal)
  if (scoringRid === undefined) {
    yield* one(whole)
    return
  }
  const { scoring, writing } = splitCall(whole, scoringRid)
  yield* afterReading(await readPrompt(one, scoring, server.clockAndRandom), () => one(writing))
}

function triedCompletion(
  server: Server,
  request: GenerateRequest,
  target: CompletionTarget,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  const { path, schema } = endpointOf(request, target)
  const posting = () => {
    const body = requestBody(request, target)
    return {
      path,
      body: (rid: string) => JSON.stringify({ ...body, request_id: rid }),
      rid: request.rid,
      replyBytes: mostReplyBytes(request),
      expected: request.expected,
    }
  }
  return tryRepeatedly(server, posting, (reply) => chunksOf(reply, request, { path, schema }, server), signal)
}

/** A path, and the schema by which its replies are read. */
interface Replies {
  readonly path: string
  readonly schema: z.ZodType<Completion>
}

function endpointOf(request: GenerateRequest, { engine, imageEndpoint }: CompletionTarget): Replies {
  if (!hasImages(request)) return { path: PATH, schema: completionSchema }
  if (!imageEndpoint) return refuseCapability('images', { ...ENGINE_CAPABILITIES[engine], images: false })
  return { path: imageEndpoint.path, schema: imageEndpoint.schema(request) }
}

const hasImages = (request: GenerateRequest): request is ImageRequest => request.images !== undefined

/** Returns the body of a request, with or without images. Throws EngineError REQUEST_REFUSED for what the engine cannot do. */
function requestBody(request: GenerateRequest, target: CompletionTarget): Record<string, unknown> {
  const body = toCompletionBody(request, target)
  if (!hasImages(request) || !target.imageEndpoint) return body
  // Of these lists the sampled token takes a place.
  const { mostAlternatives = VLLM_ALTERNATIVES } = target
  const most = Math.max(request.topLogprobsNum, Math.min(request.topLogprobsNum + 1, mostAlternatives))
  return { ...target.imageEndpoint.body(body, request, Math.max(1, most)) }
}

/** The limit of a vLLM that was started without --max-logprobs. */
const VLLM_ALTERNATIVES = 20

/** Without these values, vLLM would use those of the model's generation_config.json. */
const NEUTRAL = {
  temperature: 1,
  top_p: 1,
  top_k: 0,
  min_p: 0,
  frequency_penalty: 0,
  presence_penalty: 0,
  repetition_penalty: 1,
}

/** What is always sent to vLLM: special tokens and stop texts are parts of the text, as they are of the ids. */
const ALWAYS = { ...NEUTRAL, skip_special_tokens: false, include_stop_str_in_output: true }

/** Returns the body of a request. Throws EngineError REQUEST_REFUSED for what the engine cannot do. */
export function toCompletionBody(
  request: GenerateRequest,
  { model, engine }: CompletionTarget,
): Record<string, unknown> {
  checkRequest(request)
  const { inputIds, sampling, logprobStartLen, scoreOnly, topLogprobsNum, streamInterval, adapter } = request
  const fields = toSamplingFields(sampling, engine)
  const isVllm = engine === 'vllm'
  return {
    // An adapter is a model of its own.
    model: adapter ?? model,
    prompt: inputIds,
    max_tokens: SAMPLING_PARAMETERS.max_new_tokens.default,
    ...(isVllm && ALWAYS),
    // Scoring needs no sampling parameters. At least one token is sampled.
    ...(scoreOnly ? { max_tokens: 1, temperature: 0 } : fields),
    return_token_ids: true,
    return_tokens_as_token_ids: true,
    // Without a number of alternatives no logprobs are returned.
    logprobs: Math.max(1, topLogprobsNum),
    ...(logprobStartLen !== undefined && { prompt_logprobs: Math.max(1, topLogprobsNum) }),
    ...(isStreamed(request)
      ? {
          stream: true,
          stream_options: { include_usage: true },
          ...(isVllm && streamInterval !== undefined && { stream_interval: streamInterval }),
        }
      : { stream: false }),
  }
}

/** The logprobs of a prompt do not come in a stream. */
const isStreamed = ({ stream, logprobStartLen }: GenerateRequest): boolean => stream && logprobStartLen === undefined

async function* chunksOf(
  reply: HttpReply,
  request: GenerateRequest,
  { path, schema }: Replies,
  server: Server,
): AsyncGenerator<Chunk> {
  const { apiKey } = server
  const reader = replyReader({
    ...request,
    writesNothing: request.scoreOnly === true,
    mostTokens: request.sampling.max_new_tokens,
  })
  const requested: ReplyRequest = { ...request, apiKey }
  if (!isStreamed(request)) {
    const value = parseReply(await jsonOf(reply, apiKey), schema, path, apiKey)
    const chunk = reader.read(engineReply(value, requested, false))
    if (!chunk.end) throw replyWithoutEnd()
    yield chunk
    return
  }
  const limit = startFirstTokenLimit(server)
  // The counts follow the last tokens in an event of their own.
  let last: EngineReply | undefined
  let counts: EngineReply | undefined
  const read = (data: Buffer) => {
    const value = eventJson(data.toString('utf8'), apiKey)
    return engineReply(parseReply(value, schema, path, apiKey), requested, true)
  }
  for await (const part of eventsOf(reply, apiKey, limit.check, read)) {
    if (part.promptTokens !== undefined && part.finish === undefined) counts = part
    else if (part.finish) last = part
    else {
      const chunk = reader.read(part)
      limit.arrived(chunk.tokens.ids.length)
      yield chunk
    }
  }
  if (!last) throw replyWithoutEnd()
  yield reader.read({
    ...last,
    promptTokens: counts?.promptTokens ?? last.promptTokens,
    completionTokens: counts?.completionTokens ?? last.completionTokens,
    cachedTokens: counts?.cachedTokens ?? last.cachedTokens,
  })
}
