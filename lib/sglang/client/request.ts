/** The /generate request, refused here where it would kill the server or surprise its sender. */

import type { Sampling } from '#lib/sampling/values.ts'
import { callBody } from '#lib/trajectory/messages/generate-call.ts'
import { elementAt } from '#lib/util/element-at.ts'
import type { ServerIdentity } from '../server/server-identity.ts'
import { SglangError } from './errors.ts'

export interface GenerateRequest {
  readonly inputIds: readonly number[]
  /** Given where their JSON is there already: it with the other fields, as sent-ids.ts makes it. */
  readonly bodyWith?: (others: Readonly<Record<string, unknown>>) => Uint8Array
  readonly sampling: Sampling
  /** Request id; fixed length, so that no id is the beginning of another (aborting `job` also aborts `job-2`). */
  readonly rid: string
  readonly stream: boolean
  /** Tokens of one chunk of a stream, the first excepted: it comes with the first token. Undefined: the server's own. */
  readonly streamInterval?: number
  /** First position with prompt logprobs; the entry there is always unknown. Undefined: none are asked for. */
  readonly logprobStartLen?: number
  /**
   * Given: the prompt's logprobs come from a call of this id before the reply, which then need not repeat them in every
   * chunk of its stream.
   */
  readonly scoringRid?: string
  /** Alternatives for each token; 0 = none. */
  readonly topLogprobsNum: number
  /** Ids must be smaller: SGLang's scheduler crashes on others. */
  readonly vocabularySize: number
  /** max_new_tokens 0: read the ids, return their logprobs, write nothing. */
  readonly scoreOnly?: boolean
  /** What the server was when the run began; another one answering is SERVER_CHANGED. Undefined: whatever answers. */
  readonly expected?: ServerIdentity
}

/**
 * The body of a call, for a try of this request id. Ids that are JSON already are not written again: of a long run they are
 * nearly all of it. Throws SglangError REQUEST_REFUSED.
 */
export function generateBodies({ bodyWith, ...request }: GenerateRequest): (rid: string) => string | Uint8Array {
  const { input_ids: ids, ...others } = generateBody(request)
  return (rid) => (bodyWith ? bodyWith({ ...others, rid }) : JSON.stringify({ input_ids: ids, ...others, rid }))
}

/** The body to send. Throws SglangError REQUEST_REFUSED. */
function generateBody(request: GenerateRequest): Record<string, unknown> {
  const { inputIds, vocabularySize, logprobStartLen, topLogprobsNum } = request
  const refuse = (why: string): never => {
    throw new SglangError('REQUEST_REFUSED', why)
  }
  if (inputIds.length === 0) refuse('there are no input ids')
  const odd = firstOdd(inputIds, vocabularySize)
  if (odd >= 0)
    refuse(
      `input id ${inputIds[odd]} at position ${odd} is not in the vocabulary of ${vocabularySize}; SGLang would crash on it`,
    )
  if (logprobStartLen !== undefined && (logprobStartLen < 0 || logprobStartLen > inputIds.length))
    refuse(`logprob_start_len ${logprobStartLen} is not between 0 and the prompt’s ${inputIds.length} tokens`)
  if (topLogprobsNum < 0 || topLogprobsNum > vocabularySize)
    refuse(`top_logprobs_num ${topLogprobsNum} is not between 0 and the vocabulary of ${vocabularySize}`)
  return callBody(request)
}

/** Place of the first id that is none of the vocabulary; -1 where all are. */
function firstOdd(ids: readonly number[], vocabularySize: number): number {
  for (let index = 0; index < ids.length; index++) {
    const id = elementAt(ids, index)
    if (!Number.isSafeInteger(id) || id < 0 || id >= vocabularySize) return index
  }
  return -1
}
