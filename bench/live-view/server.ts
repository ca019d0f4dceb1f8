/**
 * An SGLang server without a model that writes every reply at a fixed rate, as 0.5.23 with --incremental-streaming-output
 * does, and records when each chunk is sent. Replies wait for `release`, so that a page can be open before the first token.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A sent chunk. */
interface Sent {
  /** The sampling_seed of its request. */
  readonly seed: number
  /** Tokens of the trajectory up to this chunk, including the prompt’s. */
  readonly tokens: number
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** The running server. */
export interface StampingServer {
  readonly baseUrl: string
  readonly sent: readonly Sent[]
  release(): void
  close(): Promise<void>
}

interface Asked {
  readonly rid: string
  readonly input_ids: readonly number[]
  readonly sampling_params: Readonly<Record<string, number | undefined>>
  readonly logprob_start_len?: number
  readonly top_logprobs_num?: number
  readonly stream: boolean
}

/** Starts the server on a free port of 127.0.0.1. */
export async function startStampingServer(tokensASecond: number): Promise<StampingServer> {
  const sent: Sent[] = []
  const released = Promise.withResolvers<void>()
  const generate = async (asked: Asked, response: ServerResponse) => {
    const { max_new_tokens: total = 0, stream_interval: step = 1, sampling_seed: seed = 0 } = asked.sampling_params
    if (!asked.stream) {
      answer(response, replyOf(asked, 0, total))
      return
    }
    await released.promise
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const beginning = performance.now()
    for (let from = 0, to = 1; from < total; from = to, to = Math.min(total, to + step)) {
      const wait = beginning + (1000 * to) / tokensASecond - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
      sent.push({ seed, tokens: asked.input_ids.length + to, at: Date.now() })
      response.write(`data: ${JSON.stringify(replyOf(asked, from, to))}\n\n`)
    }
    response.end('data: [DONE]\n\n')
  }
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const known = FACTS[request.url ?? '']
    if (known) answer(response, known)
    else if (request.url === '/generate') await generate(JSON.parse(Buffer.concat(parts).toString('utf8')), response)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    release: released.resolve,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

const FACTS: Readonly<Record<string, object>> = {
  // The application has this tokenizer without a download.
  '/model_info': { model_path: 'stamping', tokenizer_path: 'built-in', weight_version: 'default' },
  '/server_info': { version: '0.5.23', context_length: 32_768, incremental_streaming_output: true },
}

const answer = (response: ServerResponse, value: object): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

/** Returns the id of a single letter, the same in every byte-level vocabulary. */
const idAt = (index: number): number => 65 + (index % 26)
const logprobAt = (index: number): number => -((index % 97) / 40)

function replyOf(asked: Asked, from: number, to: number): object {
  const { max_new_tokens: total = 0 } = asked.sampling_params
  const top = asked.top_logprobs_num ?? 0
  const start = asked.logprob_start_len ?? asked.input_ids.length
  const input = range(start, asked.input_ids.length)
  const output = range(from, to)
  const alternatives = (index: number) =>
    range(0, top).map((rank) => [logprobAt(index + rank), idAt(index + rank), null])
  return {
    output_ids: output.map(idAt),
    meta_info: {
      id: asked.rid,
      finish_reason: to === total ? { type: 'length', length: total } : null,
      prompt_tokens: asked.input_ids.length,
      completion_tokens: to,
      cached_tokens: 0,
      input_token_logprobs: input.map((index) => [
        index === start ? null : logprobAt(index),
        asked.input_ids[index],
        null,
      ]),
      input_top_logprobs: input.map((index) => (index === start ? null : alternatives(index))),
      output_token_logprobs: output.map((index) => [logprobAt(index), idAt(index), null]),
      output_top_logprobs: output.map(alternatives),
    },
  }
}

const range = (from: number, to: number): number[] => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i)
