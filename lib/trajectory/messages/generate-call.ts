/** The body of SGLang's /generate as Rollscope sends it and as a recorded request reports it. */
import { OWN_PARAMETERS } from '#lib/sampling/parameters.ts'

/** The parameters of a /generate request. */
export interface GenerateCall {
  readonly inputIds: readonly number[]
  /** Sampling parameters by SGLang's names. */
  readonly sampling: Readonly<Record<string, unknown>>
  readonly rid?: string | undefined
  readonly stream: boolean
  /** Tokens of each chunk of a stream, except the first. Omitted: the server's default. */
  readonly streamInterval?: number | undefined
  /** First position with prompt logprobs. Omitted: none are requested. */
  readonly logprobStartLen?: number | undefined
  /** Alternatives for each token; 0 = none. */
  readonly topLogprobsNum: number
  /** Name of the LoRA adapter. Omitted: none. */
  readonly adapter?: string | undefined
  /** First position whose routed experts are requested. Omitted: none are requested. */
  readonly routedExpertsStart?: number | undefined
  /** Data URLs in the order of their placeholders. Omitted: none. */
  readonly imageData?: readonly string[] | undefined
  /** Sends max_new_tokens 0: the server reads the ids, returns their logprobs and samples nothing. */
  readonly scoreOnly?: boolean | undefined
}

/** Special tokens and the stop token are kept, because trimmed tokens could not be trained. */
const ALWAYS_SENT: Readonly<Record<string, boolean>> = Object.fromEntries(
  Object.entries(OWN_PARAMETERS).flatMap(([name, sent]) => (sent === null ? [] : [[name, sent]])),
)

/** Returns the body of a /generate request. */
export function callBody(call: GenerateCall): Record<string, unknown> {
  return {
    input_ids: call.inputIds,
    rid: call.rid,
    sampling_params: {
      // Scoring needs no sampling parameters, and a minimum of new tokens would exceed its maximum of 0.
      ...(call.scoreOnly ? { max_new_tokens: 0, temperature: 0 } : call.sampling),
      ...(call.streamInterval !== undefined && { stream_interval: call.streamInterval }),
      ...ALWAYS_SENT,
    },
    return_logprob: true,
    ...(call.logprobStartLen !== undefined && { logprob_start_len: call.logprobStartLen }),
    ...(call.topLogprobsNum > 0 && { top_logprobs_num: call.topLogprobsNum }),
    ...(call.adapter !== undefined && { lora_path: call.adapter }),
    ...(call.routedExpertsStart !== undefined && {
      return_routed_experts: true,
      routed_experts_start_len: call.routedExpertsStart,
    }),
    // The server reads more ids than these; it reports them, so that they can be compared.
    ...(call.imageData !== undefined && { image_data: call.imageData, return_prompt_token_ids: true }),
    stream: call.stream,
  }
}

/**
 * Splits a call in two if a stream would repeat the prompt's logprobs in every chunk: the first only fetches them, the
 * second samples.
 */
export function splitCall<Call extends Pick<GenerateCall, 'streamInterval' | 'logprobStartLen' | 'routedExpertsStart'>>(
  call: Call,
  scoringRid: string,
) {
  const { streamInterval: _, routedExpertsStart: ___, ...whole } = call
  const { logprobStartLen: __, ...writing } = call
  return { scoring: { ...whole, rid: scoringRid, stream: false, scoreOnly: true }, writing }
}
