/** The body of SGLang's /generate as Rollscope sends it, and as a recorded request says that it was sent. */
import { OWN_PARAMETERS } from '#lib/sampling/parameters.ts'

export interface GenerateCall {
  readonly inputIds: readonly number[]
  /** By SGLang's names. */
  readonly sampling: Readonly<Record<string, unknown>>
  readonly rid?: string | undefined
  readonly stream: boolean
  /** Tokens of one chunk of a stream, the first excepted. Omitted: the server's own. */
  readonly streamInterval?: number | undefined
  /** First position with prompt logprobs. Omitted: none are asked for. */
  readonly logprobStartLen?: number | undefined
  /** Alternatives for each token; 0 = none. */
  readonly topLogprobsNum: number
  /** max_new_tokens 0: read the ids, return their logprobs, write nothing. */
  readonly scoreOnly?: boolean | undefined
}

/** Special tokens stay, and so does the stop token: what is left out of a text or trimmed could not be trained on. */
const ALWAYS_SENT: Readonly<Record<string, boolean>> = Object.fromEntries(
  Object.entries(OWN_PARAMETERS).flatMap(([name, sent]) => (sent === null ? [] : [[name, sent]])),
)

export function callBody(call: GenerateCall): Record<string, unknown> {
  return {
    input_ids: call.inputIds,
    rid: call.rid,
    sampling_params: {
      // Scores know no sampling, and a minimum of new tokens would be above their maximum.
      ...(call.scoreOnly ? { max_new_tokens: 0, temperature: 0 } : call.sampling),
      ...(call.streamInterval !== undefined && { stream_interval: call.streamInterval }),
      ...ALWAYS_SENT,
    },
    return_logprob: true,
    ...(call.logprobStartLen !== undefined && { logprob_start_len: call.logprobStartLen }),
    ...(call.topLogprobsNum > 0 && { top_logprobs_num: call.topLogprobsNum }),
    stream: call.stream,
  }
}

/**
 * Two calls where a stream would repeat the prompt's logprobs in every chunk: the first fetches them and writes nothing, the
 * second writes.
 */
export function splitCall<Call extends Pick<GenerateCall, 'streamInterval' | 'logprobStartLen'>>(
  call: Call,
  scoringRid: string,
) {
  const { streamInterval: _, ...whole } = call
  const { logprobStartLen: __, ...writing } = call
  return { scoring: { ...whole, rid: scoringRid, stream: false, scoreOnly: true }, writing }
}
