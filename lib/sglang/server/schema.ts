/**
 * Schemas of the fields that Rollscope reads from SGLang's JSON. Most fields may be missing: versions differ, and aborts
 * lack most.
 */
import * as z from 'zod'
import { chatChoiceShape } from '#lib/engine/chat.ts'

/** [logprob, token id, text]; the logprob of the first prompt position is null. */
const tokenLogprobSchema = z.tuple([z.number().nullable(), z.int().min(0)]).rest(z.unknown())
const tokenLogprobsSchema = z.array(tokenLogprobSchema)
const topLogprobsSchema = z.array(z.array(tokenLogprobSchema).nullable())

const finishReasonSchema = z.looseObject({
  type: z.string(),
  matched: z.union([z.int(), z.string(), z.array(z.int())]).nullish(),
  message: z.string().nullish(),
  status_code: z.int().nullish(),
})

const metaInfoSchema = z.looseObject({
  finish_reason: finishReasonSchema.nullish(),
  prompt_tokens: z.int().nullish(),
  completion_tokens: z.int().nullish(),
  cached_tokens: z.int().nullish(),
  e2e_latency: z.number().nullish(),
  weight_version: z.string().nullish(),
  routed_experts: z.string().nullish(),
  weight_versions: z
    .array(z.looseObject({ version: z.string(), start: z.int().min(0), end: z.int().min(0) }))
    .nullish(),
  input_token_logprobs: tokenLogprobsSchema.nullish(),
  output_token_logprobs: tokenLogprobsSchema.nullish(),
  output_token_logprobs_length: z.int().nullish(),
  input_top_logprobs: topLogprobsSchema.nullish(),
  output_top_logprobs: topLogprobsSchema.nullish(),
})

/** A reply of /generate, or one event of its stream. */
export const generateReplySchema = z.looseObject({
  text: z.string().nullish(),
  output_ids: z.array(z.int().min(0)).nullish(),
  prompt_token_ids: z.array(z.int().min(0)).nullish(),
  meta_info: metaInfoSchema,
})
/** A reply of /generate. */
export type GenerateReply = z.infer<typeof generateReplySchema>
/** A token with its logprob, as a row of a reply. */
export type TokenLogprob = z.infer<typeof tokenLogprobSchema>

/** One choice of /v1/chat/completions. Newer versions return ids if they are requested. */
const chatChoiceSchema = z.looseObject({
  ...chatChoiceShape,
  matched_stop: z.union([z.int(), z.string()]).nullish(),
  prompt_token_ids: z.array(z.int().min(0)).nullish(),
  response_token_ids: z.array(z.int().min(0)).nullish(),
})

/** Schema of a whole reply of /v1/chat/completions. */
export const chatReplySchema = z.looseObject({
  choices: z.tuple([chatChoiceSchema]).rest(chatChoiceSchema),
  usage: z
    .looseObject({
      prompt_tokens: z.int().nullish(),
      completion_tokens: z.int().nullish(),
      prompt_tokens_details: z.looseObject({ cached_tokens: z.int().nullish() }).nullish(),
    })
    .nullish(),
  metadata: z
    .looseObject({
      weight_version: metaInfoSchema.shape.weight_version,
      weight_versions: metaInfoSchema.shape.weight_versions,
    })
    .nullish(),
})
/** A reply of /v1/chat/completions. */
export type ChatReply = z.infer<typeof chatReplySchema>

/** /model_info, and /get_model_info of older versions and the router. */
export const modelInfoSchema = z.looseObject({
  model_path: z.string().nullish(),
  served_model_name: z.string().nullish(),
  tokenizer_path: z.string().nullish(),
  weight_version: z.string().nullish(),
  reasoning_parser: z.string().nullish(),
  tool_call_parser: z.string().nullish(),
  has_image_understanding: z.boolean().nullish(),
})

/** The schema keeps only these fields: the reply also contains the server's keys in plain text. */
export const serverInfoSchema = z.object({
  version: z.string().nullish(),
  context_length: z.int().nullish(),
  incremental_streaming_output: z.boolean().nullish(),
  enable_deterministic_inference: z.boolean().nullish(),
  disable_radix_cache: z.boolean().nullish(),
  max_total_num_tokens: z.int().nullish(),
  max_req_input_len: z.int().min(1).nullish(),
  enable_lora: z.boolean().nullish(),
  lora_paths: z.unknown().optional(),
  enable_return_routed_experts: z.boolean().nullish(),
})

/** /v1/loads: one entry for each data-parallel rank. */
export const loadsReplySchema = z.object({
  loads: z.array(
    z.object({
      num_running_reqs: z.int().min(0),
      num_waiting_reqs: z.int().min(0),
      max_running_requests: z.int().min(0).nullish(),
      max_total_num_tokens: z.int().min(0).nullish(),
      token_usage: z.number().min(0).nullish(),
      cache_hit_rate: z.number().min(0).nullish(),
      gen_throughput: z.number().min(0).nullish(),
    }),
  ),
})

/** /get_load of versions before 0.5.9; `num_reqs` includes waiting requests. */
export const oldLoadReplySchema = z.array(z.object({ num_reqs: z.int().min(0), num_waiting_reqs: z.int().min(0) }))

/**
 * The router's /workers: `load` is the number of requests in progress at the worker, `metadata` is the worker's report when
 * it joined.
 */
export const workersReplySchema = z.object({
  workers: z.array(
    z.object({
      url: z.string(),
      is_healthy: z.boolean().nullish(),
      load: z.int().nullish(),
      metadata: z.object({ served_model_name: z.string().nullish(), model_path: z.string().nullish() }).nullish(),
    }),
  ),
})

/** /v1/models. */
export const modelsSchema = z.looseObject({
  data: z.array(z.looseObject({ id: z.string(), parent: z.string().nullish(), max_model_len: z.int().nullish() })),
})

const idsSchema = z.array(z.int().min(0))

/** The reply to one text or one conversation. */
export const tokenizeReplySchema = z.looseObject({ tokens: idsSchema })
/** The reply to a list of texts. */
export const tokenizeListReplySchema = z.looseObject({ tokens: z.array(idsSchema) })
/** The reply to a list of lists of ids. */
export const detokenizeListReplySchema = z.looseObject({ text: z.array(z.string()) })

/** The reply of /parse_function_call; `parameters` is a JSON text. */
export const functionCallsReplySchema = z.object({
  normal_text: z.string().nullish(),
  calls: z.array(z.object({ name: z.string().nullish(), parameters: z.string().nullish() })).nullish(),
})

/** The reply of /separate_reasoning. */
export const separatedReplySchema = z.object({ reasoning_text: z.string().nullish(), text: z.string().nullish() })
