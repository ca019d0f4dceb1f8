/** A request for a reply to token ids, for every engine. A request that would crash a server or surprise its sender is refused here. */

import { toSamplingRequest } from '#lib/sampling/sampling-request.ts'
import type { Sampling } from '#lib/sampling/values.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { EngineError } from './http/errors.ts'
import { type RequestImages, requireImagePlaceholders } from './images.ts'
import type { ServerIdentity } from './server-identity.ts'

/** One request for a reply to token ids. */
export interface GenerateRequest {
  readonly inputIds: readonly number[]
  /**
   * Returns the body with these ids, whose JSON exists already, and the other fields (see sent-ids.ts). Omitted: the
   * JSON is built from the ids.
   */
  readonly bodyWith?: (others: Readonly<Record<string, unknown>>) => Uint8Array
  readonly sampling: Sampling
  /** Request id; fixed length, so that no id is the beginning of another (aborting `job` also aborts `job-2`). */
  readonly rid: string
  readonly stream: boolean
  /**
   * Number of tokens in one chunk of a stream, except for the first chunk, which comes with the first token. Undefined:
   * the server's default.
   */
  readonly streamInterval?: number
  /**
   * First position with prompt logprobs; the entry at that position is always unknown. Undefined: no prompt logprobs
   * are requested.
   */
  readonly logprobStartLen?: number
  /**
   * Request id of a separate call that fetches the prompt's logprobs before the reply, which then need not repeat them
   * in every chunk of its stream.
   */
  readonly scoringRid?: string
  /** Name of the LoRA adapter that answers. Undefined: none, the server's default. */
  readonly adapter?: string
  /** First position whose routed experts are requested. Undefined: none are requested. */
  readonly routedExpertsStart?: number
  /** Key by which a router sends requests to the same worker, whose cache has their beginning. Undefined: the router decides. */
  readonly routingKey?: string
  /** Images of the prompt. Undefined: none. */
  readonly images?: RequestImages
  /** Number of alternatives for each token; 0 requests none. */
  readonly topLogprobsNum: number
  /** Ids must be smaller: SGLang's scheduler crashes on others. */
  readonly vocabularySize: number
  /** Sends max_new_tokens 0: the server reads the ids and returns their logprobs without sampling. */
  readonly scoreOnly?: boolean
  /**
   * The identity of the server when the run began; another server's answer is SERVER_CHANGED. Undefined: any server may
   * answer.
   */
  readonly expected?: ServerIdentity
}

/** Checks ids, positions and the number of alternatives. Throws EngineError REQUEST_REFUSED. */
export function checkRequest(request: GenerateRequest): void {
  const { inputIds, vocabularySize, logprobStartLen, topLogprobsNum, images } = request
  const refuse = (why: string): never => {
    throw new EngineError('REQUEST_REFUSED', why)
  }
  if (inputIds.length === 0) refuse('the request has no input ids')
  const odd = firstOdd(inputIds, vocabularySize)
  if (odd >= 0)
    refuse(
      `input id ${inputIds[odd]} at position ${odd} is not in the vocabulary of ${vocabularySize}; a server may crash on it`,
    )
  if (logprobStartLen !== undefined && (logprobStartLen < 0 || logprobStartLen > inputIds.length))
    refuse(`logprob_start_len ${logprobStartLen} is not between 0 and the prompt’s ${inputIds.length} tokens`)
  if (images) requireImagePlaceholders({ inputIds, images })
  if (topLogprobsNum < 0 || topLogprobsNum > vocabularySize)
    refuse(`top_logprobs_num ${topLogprobsNum} is not between 0 and the vocabulary of ${vocabularySize}`)
}

/** Returns the index of the first id outside of the vocabulary, or -1. */
function firstOdd(ids: readonly number[], vocabularySize: number): number {
  for (let index = 0; index < ids.length; index++) {
    const id = elementAt(ids, index)
    if (!Number.isSafeInteger(id) || id < 0 || id >= vocabularySize) return index
  }
  return -1
}

/** More bytes than a logprob, an id and their JSON take in any engine’s reply, with the text of the token where the engine adds it. */
const BYTES_OF_LOGPROB = 256
/** For everything else in a reply: its text, counts and settings. */
const BYTES_OF_REST = 16 << 20
/** Number of tokens by which a reply may be longer than requested, because a server with speculative decoding may send a few more. */
export const SPECULATED = 64

/**
 * Returns the largest size in bytes of a reply, or of one event of its stream. A larger one is not an answer to the request, and reading it
 * would block everything else for seconds. Undefined: the request does not limit it.
 */
export function mostReplyBytes({
  inputIds,
  sampling,
  logprobStartLen = inputIds.length,
  topLogprobsNum,
  routedExpertsStart,
  images,
  scoreOnly,
}: Omit<GenerateRequest, 'rid' | 'stream' | 'vocabularySize'>): number | undefined {
  const written = scoreOnly ? 1 : sampling.max_new_tokens
  // Routed experts have kilobytes for each token, images have placeholders, and parameters that Rollscope does not know may add anything.
  const { further } = toSamplingRequest(sampling)
  if (written === undefined || routedExpertsStart !== undefined || images || further) return undefined
  const scored = written + SPECULATED + inputIds.length - logprobStartLen
  // Beside the alternatives there is the token itself; a reply may repeat the prompt’s ids and text.
  return BYTES_OF_REST + BYTES_OF_LOGPROB * (scored * (topLogprobsNum + 2) + inputIds.length)
}
