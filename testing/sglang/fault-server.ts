/**
 * A server that plays SGLang until it is told to misbehave: raw bytes on a socket, so that it can do anything that a
 * server, a proxy or a network does. It keeps a log of every token that it sent, to hold a recorded trajectory against.
 */

import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { expiredCertificate } from './certificate.ts'

export interface SentToken {
  readonly id: number
  readonly logprob: number
}

/** One request to /generate, that of a score excepted. */
interface LoggedCall {
  /** Counted from 1; tries of the same call share it. */
  readonly call: number
  readonly inputIds: readonly number[]
  /** Tokens that left the server whole. */
  readonly sent: SentToken[]
}

/** One request under way, for a fault to answer. */
export interface Exchange {
  readonly socket: Socket
  /** 1 for the first try of the call. */
  readonly attempt: number
  readonly isStream: boolean
  /** What a healthy server would write. */
  readonly tokens: readonly SentToken[]
  /** Raw bytes. */
  write(text: string | Buffer): Promise<void>
  /** Status line and headers. */
  head(status: string, headers?: Readonly<Record<string, string>>): Promise<void>
  /** The whole reply, in the form asked for, changed on its way. */
  reply(change?: (body: Body) => unknown): Promise<void>
  /** Headers of a stream and its first `count` tokens; of a plain reply the headers and half a body without tokens. */
  begin(count: number, headers?: Readonly<Record<string, string>>): Promise<void>
  /** Notes that the whole reply was written, by other means than `reply`. */
  sentAll(): void
  /** The body of a chunk with tokens `from` up to `to`, not sent. */
  body(from: number, to: number): Body
}

interface Body {
  readonly text: string
  readonly output_ids: readonly number[]
  readonly meta_info: Readonly<Record<string, unknown>>
}

export type Fault = (exchange: Exchange) => Promise<void> | void

export interface FaultServer {
  readonly baseUrl: string
  readonly log: readonly LoggedCall[]
  /** The process ends and another one with this model listens at once; connections are lost. */
  restartAs(model: string, weightVersion?: string): void
  close(): Promise<void>
}

export interface FaultServerOptions {
  /** The replies in order; the text's last token is the end of the turn. */
  readonly replies: readonly (readonly SentToken[])[]
  /** Answers the call of this number. */
  readonly at?: { readonly call: number; readonly fault: Fault }
  readonly endOfTurnId: number
  readonly textOf: (ids: readonly number[]) => string
}

export async function startFaultServer({ replies, at, endOfTurnId, textOf }: FaultServerOptions): Promise<FaultServer> {
  let model = 'good'
  let weightVersion = '1'
  const log: LoggedCall[] = []
  const rids: string[] = []
  const sockets = new Set<Socket>()

  const generate = async (socket: Socket, asked: Asked): Promise<void> => {
    const isScore = asked.sampling_params.max_new_tokens === 0
    const base = asked.rid.slice(0, RID_LENGTH)
    if (!isScore && !rids.includes(base)) rids.push(base)
    const call = rids.length
    const entry: LoggedCall = { call, inputIds: asked.input_ids, sent: [] }
    if (!isScore) log.push(entry)
    const exchange = exchangeOf(socket, asked, {
      tokens: isScore ? [] : (replies[call - 1] ?? []),
      attempt: Number(asked.rid.slice(RID_LENGTH + 1) || 1),
      weightVersion,
      endOfTurnId,
      textOf,
      onSent: (tokens) => entry.sent.push(...tokens),
    })
    if (!isScore && at?.call === call) await at.fault(exchange)
    else await exchange.reply()
  }

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    onRequests(socket, async ({ path, body }) => {
      if (path === '/generate') return generate(socket, JSON.parse(body))
      const info =
        path === '/model_info' ? { model_path: model, tokenizer_path: model, weight_version: weightVersion } : {}
      const json = JSON.stringify(path === '/server_info' ? SERVER_INFO : info)
      socket.write(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`)
    })
  })
  const port = await listening(server)
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    log,
    restartAs(name, version = weightVersion) {
      model = name
      weightVersion = version
      for (const socket of sockets) socket.destroy()
    },
    close: () => closed(server, sockets),
  }
}

/** Where nobody listens: a port that no program is given by chance. */
export const CLOSED_PORT = 'http://127.0.0.1:9'

/** Answers TLS with a certificate that is not accepted. */
export async function badTlsServer(): Promise<{ readonly baseUrl: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createTlsServer(expiredCertificate(), (socket) => socket.end())
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.on('tlsClientError', () => {})
  const port = await listening(server)
  return { baseUrl: `https://127.0.0.1:${port}`, close: () => closed(server, sockets) }
}

/**
 * A port whose queue of connections is full and never emptied: the kernel drops every further SYN. Its thread stands
 * still, so nothing is ever accepted.
 */
export async function swallowingPort(): Promise<{ readonly baseUrl: string; close(): Promise<void> }> {
  const { connect } = await import('node:net')
  const worker = new Worker(
    `const server = require('node:net').createServer()
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
      require('node:worker_threads').parentPort.postMessage(server.address().port)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    })`,
    { eval: true },
  )
  const port = await new Promise<number>((resolve) => worker.once('message', resolve))
  const fillers: Socket[] = []
  for (let isFull = false; !isFull; ) {
    const filler = connect(port, '127.0.0.1')
    filler.on('error', () => {})
    fillers.push(filler)
    isFull = await new Promise<boolean>((resolve) => {
      // What has connected meanwhile is told before the check: on a busy machine the timer alone would be no proof.
      const timer = setTimeout(() => setImmediate(resolve, true), 300)
      filler.once('connect', () => {
        clearTimeout(timer)
        resolve(false)
      })
    })
  }
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async close() {
      for (const filler of fillers) filler.destroy()
      await worker.terminate()
    },
  }
}

const RID_LENGTH = 32
const SERVER_INFO = { version: '0.5.23', context_length: 100_000, incremental_streaming_output: true }

interface Asked {
  readonly rid: string
  readonly input_ids: readonly number[]
  readonly sampling_params: { readonly max_new_tokens: number; readonly stream_interval?: number }
  readonly logprob_start_len?: number
  readonly stream: boolean
}

interface Answering {
  readonly tokens: readonly SentToken[]
  readonly attempt: number
  readonly weightVersion: string
  readonly endOfTurnId: number
  readonly textOf: (ids: readonly number[]) => string
  readonly onSent: (tokens: readonly SentToken[]) => void
}

function exchangeOf(socket: Socket, asked: Asked, answering: Answering): Exchange {
  const { tokens, attempt, onSent } = answering
  const body = (from: number, to: number) => bodyOf(asked, answering, from, to)
  const write = (text: string | Buffer) =>
    new Promise<void>((resolve) => {
      if (socket.destroyed) resolve()
      else socket.write(text, () => resolve())
    })
  const head = (status: string, headers: Readonly<Record<string, string>> = {}) =>
    write(
      `HTTP/1.1 ${status}\r\n${Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\r\n`)
        .join('')}\r\n`,
    )
  const begin: Exchange['begin'] = async (count, headers = CHUNKED) => {
    await head('200 OK', { 'content-type': asked.stream ? EVENTS : JSON_TYPE, ...headers })
    const text = asked.stream ? event(body(0, count)) : '{"text": "half a bo'
    await write(headers === CHUNKED ? chunk(text) : text)
    if (asked.stream) onSent(tokens.slice(0, count))
  }
  return {
    socket,
    attempt,
    isStream: asked.stream,
    tokens,
    write,
    head,
    begin,
    body,
    sentAll: () => onSent(tokens),
    async reply(change = (whole) => whole) {
      const changed = (from: number, to: number): unknown =>
        to === tokens.length ? change(body(from, to)) : body(from, to)
      await head('200 OK', { 'content-type': asked.stream ? EVENTS : JSON_TYPE, ...CHUNKED })
      const steps = asked.stream
        ? stepsOf(tokens.length, asked.sampling_params.stream_interval ?? 1)
        : [[0, tokens.length] as const]
      for (const [from, to] of steps) {
        // Before they leave: whoever has received them must find them here.
        onSent(tokens.slice(from, to))
        await write(chunk(asked.stream ? event(changed(from, to)) : JSON.stringify(changed(from, to))))
      }
      if (asked.stream) await write(chunk('data: [DONE]\n\n'))
      await write('0\r\n\r\n')
    },
  }
}

/** As 0.5.23 with --incremental-streaming-output sends it; a score brings the prompt’s logprobs. */
function bodyOf(
  asked: Asked,
  { tokens, weightVersion, endOfTurnId, textOf }: Answering,
  from: number,
  to: number,
): Body {
  const part = tokens.slice(from, to)
  const start = asked.logprob_start_len
  const isLast = to === tokens.length
  const finish = tokens.length === 0 ? { type: 'length', length: 0 } : { type: 'stop', matched: endOfTurnId }
  return {
    text: textOf(part.map(({ id }) => id)),
    output_ids: part.map(({ id }) => id),
    meta_info: {
      id: asked.rid,
      finish_reason: isLast ? finish : null,
      prompt_tokens: asked.input_ids.length,
      completion_tokens: to,
      cached_tokens: 0,
      weight_version: weightVersion,
      ...(start !== undefined && {
        input_token_logprobs: asked.input_ids.slice(start).map((id, index) => [index === 0 ? null : -0.25, id, null]),
      }),
      output_token_logprobs: part.map(({ id, logprob }) => [logprob, id, null]),
      output_token_logprobs_length: to,
    },
  }
}

function* stepsOf(length: number, interval: number): Generator<readonly [number, number]> {
  for (let from = 0, to = 1; from < length; from = to, to = Math.min(length, to + interval)) yield [from, to]
}

const EVENTS = 'text/event-stream; charset=utf-8'
const JSON_TYPE = 'application/json'
export const CHUNKED: Readonly<Record<string, string>> = { 'transfer-encoding': 'chunked' }
export const event = (body: unknown): string => `data: ${JSON.stringify(body)}\n\n`
export const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

/** Calls `handle` with each request of a connection, one after the other. */
function onRequests(socket: Socket, handle: (request: { path: string; body: string }) => Promise<void>): void {
  let buffer = Buffer.alloc(0)
  let turn = Promise.resolve()
  socket.on('data', (bytes: Buffer) => {
    buffer = Buffer.concat([buffer, bytes])
    for (;;) {
      const end = buffer.indexOf('\r\n\r\n')
      if (end < 0) return
      const header = buffer.subarray(0, end).toString('latin1')
      const length = Number(/^content-length: (\d+)/im.exec(header)?.[1] ?? 0)
      if (buffer.length < end + 4 + length) return
      const request = {
        path: header.split(' ')[1] ?? '',
        body: buffer.subarray(end + 4, end + 4 + length).toString('utf8'),
      }
      buffer = buffer.subarray(end + 4 + length)
      turn = turn.then(() => handle(request))
    }
  })
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}

function closed(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  for (const socket of sockets) socket.destroy()
  return new Promise((resolve) => server.close(() => resolve()))
}
