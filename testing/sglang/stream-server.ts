/**
 * A server that answers /generate with the fields of SGLang 0.5.23, cumulatively or incrementally, and counts the bytes.
 * It has no model: tokens and logprobs are numbers of the right length.
 */
import { createServer } from 'node:http'
import { closeServer, listeningUrl } from '../listening.ts'

/** cumulative: each chunk repeats all tokens; incremental: each chunk has only new ones. */
export type Manner = 'cumulative' | 'incremental'

/** Number of ids that the server uses. */
export const VOCABULARY = 151_936

/** Fields of a request that the server reads. */
export interface StreamServerRequest {
  readonly rid: string
  readonly input_ids: readonly number[]
  readonly sampling_params: { readonly max_new_tokens: number; readonly stream_interval?: number }
  readonly logprob_start_len?: number
  readonly top_logprobs_num?: number
  readonly stream: boolean
}

/** A running server. */
export interface StreamServer {
  readonly baseUrl: string
  /** Returns the bytes of all replies since the last call. */
  bytesSent(): number
  close(): Promise<void>
}

/** Starts a server whose replies always have max_new_tokens tokens. */
export async function startStreamServer(manner: Manner): Promise<StreamServer> {
  let bytes = 0
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const body: StreamServerRequest = JSON.parse(Buffer.concat(parts).toString('utf8'))
    const write = async (text: string): Promise<void> => {
      bytes += Buffer.byteLength(text)
      if (!response.write(text)) await new Promise((resolve) => response.once('drain', resolve))
    }
    response.writeHead(200, { 'content-type': body.stream ? 'text/event-stream' : 'application/json' })
    for (const text of body.stream ? eventsOf(body, manner) : [JSON.stringify(replyOf(body, 0, lengthOf(body)))])
      await write(text)
    response.end()
  })
  return {
    baseUrl: await listeningUrl(server),
    bytesSent() {
      const sent = bytes
      bytes = 0
      return sent
    },
    close: () => closeServer(server),
  }
}

const lengthOf = (request: StreamServerRequest): number => request.sampling_params.max_new_tokens

/** Yields the events of a stream: a chunk with the first token, then one after every `stream_interval` tokens. */
function* eventsOf(request: StreamServerRequest, manner: Manner): Generator<string> {
  const total = lengthOf(request)
  const step = request.sampling_params.stream_interval ?? 1
  for (let from = 0, to = Math.min(1, total); from < total; from = to, to = Math.min(total, to + step))
    yield `data: ${JSON.stringify(replyOf(request, manner === 'incremental' ? from : 0, to))}\n\n`
  yield 'data: [DONE]\n\n'
}

/** Returns a chunk with the tokens `from` up to `to`. */
export function replyOf(request: StreamServerRequest, from: number, to: number): object {
  const total = lengthOf(request)
  const start = request.logprob_start_len ?? request.input_ids.length
  const top = request.top_logprobs_num ?? 0
  const output = range(from, to)
  const input = range(start, request.input_ids.length)
  return {
    text: output.map((index) => ` word${index % 10}`).join(''),
    output_ids: output.map(idAt),
    meta_info: {
      id: request.rid,
      finish_reason: to === total ? { type: 'length', length: total } : null,
      prompt_tokens: request.input_ids.length,
      weight_version: 'default',
      num_retractions: 0,
      input_token_logprobs: input.map((index) => [
        index === start ? null : logprobAt(index),
        request.input_ids[index],
        null,
      ]),
      output_token_logprobs: output.map((index) => [logprobAt(index), idAt(index), null]),
      output_token_logprobs_length: to,
      ...(top > 0 && {
        input_top_logprobs: input.map((index) => (index === start ? null : alternatives(index, top))),
        output_top_logprobs: output.map((index) => alternatives(index, top)),
      }),
      reasoning_tokens: 0,
      completion_tokens: to,
      cached_tokens: 37,
      cached_tokens_details: { device: 37, host: 0 },
      dp_rank: null,
      ...(to === total && { e2e_latency: 12.345, response_sent_to_client_ts: 1795211208.2611094 }),
    },
  }
}

const range = (from: number, to: number): number[] => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i)
const idAt = (index: number): number => (index * 7919) % VOCABULARY
/** Returns a logprob with float32 digits, as in SGLang's replies. */
const logprobAt = (index: number): number => -Math.fround(((index * 2654435761) % 1000) / 97 + 0.001)
const alternatives = (index: number, top: number): unknown[] =>
  range(0, top).map((rank) => [logprobAt(index + rank), idAt(index + rank), null])

/** Returns `length` ids of the vocabulary as a prompt. */
export const streamPrompt = (length: number): number[] => range(0, length).map(idAt)
