/** Describes the server with the fields of SGLang 0.5.23 that clients read, and with its own values. */
import type { Capacity } from '#lib/builtin-server/engine/job.ts'
import { cachedShare, type EngineCounters, readRunningTokens } from '#lib/builtin-server/engine/tally.ts'
import { WEIGHT_VERSION } from '#lib/builtin-server/generate/reply.ts'
import type { ServedParsers } from '#lib/builtin-server/messages/served-parsers.ts'
import type { ModelFacts } from '#lib/builtin-server/models/onnx-session.ts'

/** Begins with the version of SGLang whose protocol is served; the build part names this server. */
const VERSION = '0.5.23+rollscope'

/** Names of the model and its tokenizer; a caller without the launch token gets no path. */
export interface ModelNames {
  readonly model: string
  readonly tokenizer: string
}

/** Returns the answer of /model_info. */
export function modelInfoAnswer(
  { model, tokenizer }: ModelNames,
  { modelType, architectures }: ModelFacts,
  parsers: ServedParsers,
): object {
  return {
    model_path: model,
    served_model_name: model,
    tokenizer_path: tokenizer,
    is_generation: true,
    preferred_sampling_params: null,
    weight_version: WEIGHT_VERSION,
    load_format: 'auto',
    ...parserNames(parsers),
    disaggregation_mode: 'null',
    has_image_understanding: false,
    has_audio_understanding: false,
    model_type: modelType,
    architectures,
  }
}

/** Returns the answer of /server_info. */
export function serverInfoAnswer(
  { model, tokenizer }: ModelNames,
  { contextLength, dtype }: ModelFacts,
  { running, waiting }: Capacity,
  parsers: ServedParsers,
): object {
  return {
    model_path: model,
    tokenizer_path: tokenizer,
    served_model_name: model,
    skip_tokenizer_init: false,
    load_format: 'auto',
    context_length: contextLength,
    is_embedding: false,
    dtype: 'float32',
    quantization: dtype === 'fp32' ? null : dtype,
    device: 'cpu',
    max_running_requests: running,
    max_queued_requests: waiting,
    max_total_tokens: running * contextLength,
    weight_version: WEIGHT_VERSION,
    ...parserNames(parsers),
    enable_metrics: false,
    incremental_streaming_output: true,
    stream_interval: 1,
    enable_deterministic_inference: true,
    disable_radix_cache: false,
    enable_lora: false,
    enable_return_routed_experts: false,
    grammar_backend: 'transformers-structured-output',
    tp_size: 1,
    pp_size: 1,
    dp_size: 1,
    status: 'ready',
    max_total_num_tokens: running * contextLength,
    max_req_input_len: contextLength - 1,
    version: VERSION,
    frontend: 'rollscope',
  }
}

const parserNames = ({ reasoning, toolCalls }: ServedParsers): object => ({
  reasoning_parser: reasoning ?? null,
  tool_call_parser: toolCalls ?? null,
})

/** Returns a model for /v1/models; `loadedAt` is in seconds since 1970. */
function modelCard(name: string, { contextLength }: ModelFacts, loadedAt: number): object {
  return {
    id: name,
    object: 'model',
    created: Math.floor(loadedAt),
    owned_by: 'rollscope',
    root: name,
    parent: null,
    max_model_len: contextLength,
  }
}

/** Returns the answer of /v1/models. */
export const modelList = (name: string, facts: ModelFacts, loadedAt: number): object => ({
  object: 'list',
  data: [modelCard(name, facts, loadedAt)],
})

/** Answers /v1/models/NAME; 404 for another name. */
export function oneModel(requestedName: string, name: string, facts: ModelFacts, loadedAt: number): Response {
  if (requestedName === name) return Response.json(modelCard(name, facts, loadedAt))
  const message = `The model '${requestedName}' does not exist`
  const error = { message, type: 'invalid_request_error', param: 'model', code: 'model_not_found' }
  return Response.json({ error }, { status: 404 })
}

/** Returns the answer of /v1/loads. */
export function loads({ contextLength }: ModelFacts, most: Capacity, jobs: number, tally: EngineCounters): object {
  const now = Date.now()
  const running = Math.min(jobs, most.running)
  const waiting = jobs - running
  const capacity = most.running * contextLength
  const runningTokens = readRunningTokens(tally)
  return {
    timestamp: new Date(now).toISOString(),
    version: VERSION,
    accelerator: null,
    num_accelerators: 1,
    loads: [
      {
        timestamp: now / 1000,
        dp_rank: 0,
        num_running_reqs: running,
        num_waiting_reqs: waiting,
        num_used_tokens: runningTokens,
        max_total_num_tokens: capacity,
        max_running_requests: most.running,
        token_usage: runningTokens / capacity,
        cache_hit_rate: cachedShare(tally),
        utilization: running / most.running,
        queues: { waiting, grammar: 0, paused: 0, retracted: 0, prealloc_ready: 0 },
      },
    ],
  }
}
