/** Converts a chunk of a generation to SGLang's form: text, output_ids and meta_info. */

import type { InputLogprobs, JobChunk, JobFinish, TokenRanking } from '#lib/builtin-server/engine/job.ts'
import { decodeIds, type Vocabulary } from '#lib/builtin-server/models/vocabulary.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { unreachable } from '#lib/util/unreachable.ts'
import type { Order } from './generate-jobs.ts'

/** Writes the replies of one generation. */
export interface ReplyWriter {
  /**
   * Returns the reply of a chunk. Text, ids and logprobs are those of the chunk; counts include all chunks so far; the prompt's logprobs
   * are in every reply.
   */
  write(chunk: JobChunk): ReplyJson
}

/** One entry of a list of logprobs; the text is null unless requested. */
export type ReplyEntry = readonly [logprob: number | null, id: number, text: string | null]

/** A reply of /generate with the fields of meta_info that this server reads again; it has more. */
export interface ReplyJson {
  readonly text: string
  readonly output_ids: readonly number[]
  readonly prompt_token_ids?: readonly number[]
  readonly meta_info: {
    readonly id: string
    /** Absent if the request was aborted while it waited. */
    readonly prompt_tokens?: number
    readonly completion_tokens: number
    readonly input_token_logprobs?: readonly ReplyEntry[]
    readonly input_top_logprobs?: readonly (readonly ReplyEntry[] | null)[]
    readonly finish_reason: FinishReason | null
    readonly weight_version: string
    readonly weight_versions?: readonly object[]
    readonly output_token_logprobs?: readonly ReplyEntry[]
    readonly output_top_logprobs?: readonly (readonly ReplyEntry[] | null)[]
  }
}

type FinishReason =
  | { readonly type: 'length'; readonly length: number }
  | { readonly type: 'stop'; readonly matched: number | string }
  | { readonly type: 'abort'; readonly message: string; readonly status_code?: number | null; readonly err_type?: null }

/** SGLang's name of weights that were never replaced. */
export const WEIGHT_VERSION = 'default'

/** Returns the writer of a generation's replies. */
export function createReply(order: Order, vocabulary: Vocabulary): ReplyWriter {
  const { rid, job, showsPromptIds } = order
  const lists = logprobLists(order, vocabulary)
  const startedAt = performance.now()
  let tokens = 0
  let ofPrompt: PromptLists | undefined
  return {
    write(chunk) {
      const { ids, text, finish, cachedTokens } = chunk
      const isFirst = tokens === 0
      tokens += ids.length
      ofPrompt ??= chunk.input && lists.ofPrompt(chunk.input)
      const finishReason = finish ? finishReasonOf(finish, tokens) : null
      const elapsed = finish && { e2e_latency: (performance.now() - startedAt) / 1000 }
      if (finish?.kind === 'aborted' && finish.stage === 'waiting') {
        const known = { id: rid, finish_reason: finishReason, weight_version: WEIGHT_VERSION, completion_tokens: 0 }
        return { text, output_ids: ids, meta_info: { ...known, ...elapsed } }
      }
      return {
        text,
        output_ids: ids,
        meta_info: {
          id: rid,
          finish_reason: finishReason,
          prompt_tokens: job.promptIds.length,
          weight_version: WEIGHT_VERSION,
          num_retractions: 0,
          ...(ofPrompt && { ...ofPrompt, ...lists.ofOutput(chunk), output_token_logprobs_length: tokens }),
          reasoning_tokens: 0,
          completion_tokens: tokens,
          cached_tokens: cachedTokens,
          ...(finish && { weight_versions: [{ version: WEIGHT_VERSION, start: 0, end: tokens }] }),
          cached_tokens_details: cachedTokens > 0 ? { device: cachedTokens, host: 0 } : null,
          dp_rank: null,
          ...elapsed,
          ...(isFirst && { response_sent_to_client_ts: Date.now() / 1000 }),
        },
        ...(showsPromptIds && { prompt_token_ids: job.promptIds }),
      }
    },
  }
}

function finishReasonOf(finish: JobFinish, tokens: number): FinishReason {
  switch (finish.kind) {
    case 'length':
      return { type: 'length', length: tokens }
    case 'stop':
      return { type: 'stop', matched: finish.matched }
    case 'aborted':
      return finish.stage === 'waiting'
        ? { type: 'abort', message: 'Abort in waiting queue' }
        : { type: 'abort', message: 'Aborted', status_code: null, err_type: null }
    case 'failed':
      return { type: 'abort', message: finish.message, status_code: finish.status, err_type: null }
    default:
      return unreachable(finish)
  }
}

/** Returns the lists of meta_info; alternatives and logprobs of requested ids are absent unless requested. */
function logprobLists({ job, showsTexts }: Order, vocabulary: Vocabulary) {
  const entries = (ids: readonly number[], logprobs: readonly (number | null)[]): ReplyEntry[] =>
    logprobs.map((logprob, index) => {
      const id = elementAt(ids, index)
      return [logprob, id, showsTexts ? decodeIds(vocabulary, [id], 'all') : null]
    })
  const ranked = (row: TokenRanking | null) => row && entries(row.ids, row.logprobs)
  const top = job.logprobs?.top ?? 0
  const ids = job.logprobs?.ids
  const requestedEntries = (row: readonly number[] | null) => row && entries(ids ?? [], row)
  return {
    ofPrompt: (input: InputLogprobs) => ({
      input_token_logprobs: entries(input.ids, input.logprobs),
      ...(top > 0 && { input_top_logprobs: input.top.map(ranked) }),
      ...(ids && { input_token_ids_logprobs: input.requested.map(requestedEntries) }),
    }),
    ofOutput: (chunk: JobChunk) => ({
      output_token_logprobs: entries(chunk.ids, chunk.logprobs),
      ...(top > 0 && { output_top_logprobs: chunk.top.map(ranked) }),
      ...(ids && { output_token_ids_logprobs: chunk.requested.map(requestedEntries) }),
    }),
  }
}

type PromptLists = ReturnType<ReturnType<typeof logprobLists>['ofPrompt']>
