/**
 * An SGLang server 0.5.23 without a model: a function creates each reply and its rate. It keeps the ids of requests and
 * replies, so that a bench can compare them with the recorded ones.
 */
import { createServer, type ServerResponse } from 'node:http'
import path from 'node:path'
import { closeServer, listeningUrl } from '#testing/listening.ts'
import { loadedTokenizer } from '#testing/tokenizers.ts'

/** The body of a /generate request. */
export interface LoadRequest {
  readonly rid: string
  readonly input_ids: readonly number[]
  readonly sampling_params: Readonly<Record<string, number | undefined>>
  readonly logprob_start_len?: number
  readonly top_logprobs_num?: number
  readonly stream: boolean
}

/** A scripted reply. */
export interface ScriptedReply {
  readonly ids: readonly number[]
  readonly finish:
    | { readonly type: 'stop'; readonly matched: number }
    | { readonly type: 'length'; readonly length: number }
  /** Tokens in each chunk of a streamed reply. */
  readonly tokensPerChunk: number
  /** Milliseconds for each chunk of a streamed reply. */
  readonly msPerChunk: number
}

/** One call of /generate. */
interface Exchange {
  readonly read: readonly number[]
  readonly wrote: readonly number[]
}

/** The running server. */
export interface ScriptedSglang {
  readonly baseUrl: string
  /** The calls in their order, by sampling_seed. */
  readonly exchanges: ReadonlyMap<number, readonly Exchange[]>
  /** Called when a chunk is sent, with the sampling_seed, the tokens so far and the milliseconds since the epoch. */
  onChunk: (seed: number, tokens: number, at: number) => void
  close(): Promise<void>
}

/**
 * Starts the server on a free port of 127.0.0.1. `reply` gets the number of the call among those with its sampling_seed, from
 * 0.
 */
export async function startScriptedSglang(
  reply: (asked: LoadRequest, seed: number, call: number) => ScriptedReply | Promise<ScriptedReply>,
): Promise<ScriptedSglang> {
  const exchanges = new Map<number, Exchange[]>()
  const generate = async (asked: LoadRequest, response: ServerResponse) => {
    const seed = asked.sampling_params.sampling_seed ?? 0
    const calls = exchanges.get(seed) ?? []
    exchanges.set(seed, calls)
    const number = calls.length
    const wrote: number[] = []
    calls.push({ read: asked.input_ids, wrote })
    const { ids, finish, tokensPerChunk, msPerChunk } = await reply(asked, seed, number)
    if (!asked.stream) {
      wrote.push(...ids)
      answer(response, chunkOf(asked, ids, 0, ids.length, finish))
      return
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const beginning = performance.now()
    for (let from = 0; from < ids.length && !response.destroyed; from += tokensPerChunk) {
      const to = Math.min(ids.length, from + tokensPerChunk)
      const wait = beginning + (msPerChunk * from) / tokensPerChunk - performance.now()
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
      wrote.push(...ids.slice(from, to))
      server.onChunk(seed, asked.input_ids.length + to, Date.now())
      const chunk = chunkOf(asked, ids, from, to, to === ids.length ? finish : null)
      response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    }
    response.end('data: [DONE]\n\n')
  }
  const http = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const known = FACTS[request.url ?? '']
    if (known) answer(response, known)
    else if (request.url === '/generate') await generate(JSON.parse(Buffer.concat(parts).toString('utf8')), response)
    else response.writeHead(404).end()
  })
  // A busy client may leave a connection idle for longer than Node’s default of five seconds.
  http.keepAliveTimeout = 600_000
  const server: ScriptedSglang = {
    baseUrl: await listeningUrl(http),
    exchanges,
    onChunk: () => {},
    close: () => closeServer(http),
  }
  return server
}

const FACTS: Readonly<Record<string, object>> = {
  // The application has this tokenizer without a download.
  '/model_info': { model_path: 'scripted', tokenizer_path: 'built-in', weight_version: 'default' },
  '/server_info': { version: '0.5.23', context_length: 1_000_000, incremental_streaming_output: true },
}

const answer = (response: ServerResponse, value: object): void => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

function chunkOf(
  asked: LoadRequest,
  ids: readonly number[],
  from: number,
  to: number,
  finish: ScriptedReply['finish'] | null,
): object {
  const { input_ids: read, rid, top_logprobs_num: top = 0, logprob_start_len: start = read.length } = asked
  const written = ids.slice(from, to)
  const alternatives = (id: number, index: number) =>
    Array.from({ length: top }, (_, rank) => [logprobAt(index) - rank, rank === 0 ? id : (id + rank) % 256, null])
  return {
    output_ids: written,
    meta_info: {
      id: rid,
      finish_reason: finish,
      prompt_tokens: read.length,
      completion_tokens: to,
      cached_tokens: 0,
      ...(from === 0 && {
        input_token_logprobs: read
          .slice(start)
          .map((id, index) => [start + index === 0 ? null : logprobAt(index), id, null]),
        ...(top > 0 && {
          input_top_logprobs: read
            .slice(start)
            .map((id, index) => (start + index === 0 ? null : alternatives(id, index))),
        }),
      }),
      output_token_logprobs: written.map((id, index) => [logprobAt(from + index), id, null]),
      ...(top > 0 && { output_top_logprobs: written.map((id, index) => alternatives(id, from + index)) }),
    },
  }
}

const logprobAt = (index: number): number => -Math.fround(((index * 7919) % 997) / 333 + 1e-6)

/** Loads the tokenizer of the built-in model. */
export async function builtInTokenizer() {
  const folder = path.resolve(import.meta.dirname, '..', '..', '..', 'models', 'tiny-qwen3')
  const { tokenizer } = loadedTokenizer(folder, 'built-in')
  const endOfTurn = tokenizer.addedTokens.find(({ content }) => content === '<|im_end|>')?.id
  if (endOfTurn === undefined) throw new Error('the tokenizer of the built-in model has no token <|im_end|>')
  const encode = (text: string): readonly number[] => tokenizer.encode(text)
  const decode = (ids: readonly number[]): string =>
    new TextDecoder().decode(Uint8Array.from(ids.flatMap((id) => Array.from(tokenizer.bytes(id)))))
  return { encode, decode, endOfTurn }
}
