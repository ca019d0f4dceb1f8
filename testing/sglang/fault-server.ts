/**
 * A server that imitates SGLang until a fault is due. It writes raw bytes on a socket, so that it can do anything that a server,
 * a proxy or a network does. It logs every token that it sends, to compare with the recorded trajectory.
 */

import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { serverSentEvent } from '#lib/builtin-server/http/event-stream.ts'
import { listening } from '../listening.ts'
import { expiredCertificate } from './certificate.ts'

/** A token of a scripted reply. */
export interface SentToken {
  readonly id: number
  readonly logprob: number
}

/** A logged request to /generate; requests that only score are not logged. */
interface LoggedCall {
  /** Number of the call, from 1. The attempts of a call share it. */
  readonly call: number
  readonly inputIds: readonly number[]
  /** Tokens that the server sent completely. */
  readonly sent: SentToken[]
}

/** A request in progress that a fault answers. */
export interface FaultExchange {
  readonly socket: Socket
  /** Attempt of the call, from 1. */
  readonly attempt: number
  readonly isStream: boolean
  /** Tokens that a healthy server would send. */
  readonly tokens: readonly SentToken[]
  /** Writes raw bytes. */
  write(text: string | Buffer): Promise<void>
  /** Writes the status line and headers. */
  head(status: string, headers?: Readonly<Record<string, string>>): Promise<void>
  /** Writes the whole reply in the requested form, with the last body changed. */
  reply(change?: (body: Body) => unknown): Promise<void>
  /** Writes the headers of a stream and its first `count` tokens; for a plain reply the headers and half a body without tokens. */
  begin(count: number, headers?: Readonly<Record<string, string>>): Promise<void>
  /** Logs that the whole reply was sent, if it was written without `reply`. */
  sentAll(): void
  /** Returns the body of a chunk with tokens `from` up to `to`, without sending it. */
  body(from: number, to: number): Body
}

interface Body {
  readonly text: string
  readonly output_ids: readonly number[]
  readonly meta_info: Readonly<Record<string, unknown>>
}

/** Answers a request in place of a healthy server. */
export type ServerFault = (exchange: FaultExchange) => Promise<void> | void

/** A running server. */
export interface FaultServer {
  readonly baseUrl: string
  readonly log: readonly LoggedCall[]
  /** Restarts the server at once with another model; all connections are lost. */
  restartAs(model: string, weightVersion?: string): void
  close(): Promise<void>
}

/** Script of the server. */
export interface FaultServerOptions {
  /** Replies in order; the last token of each ends the turn. */
  readonly replies: readonly (readonly SentToken[])[]
  /** Fault that answers the call with this number, from 1. */
  readonly at?: { readonly call: number; readonly fault: ServerFault }
  readonly endOfTurnId: number
  readonly textOf: (ids: readonly number[]) => string
}

/** Starts the server on a free port of 127.0.0.1. */
export async function startFaultServer({ replies, at, endOfTurnId, textOf }: FaultServerOptions): Promise<FaultServer> {
  let model = 'good'
  let weightVersion = '1'
  const log: LoggedCall[] = []
  const rids: string[] = []
  const sockets = new Set<Socket>()

  const generate = async (socket: Socket, request: Asked): Promise<void> => {
    const isScore = request.sampling_params.max_new_tokens === 0
    const base = request.rid.slice(0, RID_LENGTH)
    if (!isScore && !rids.includes(base)) rids.push(base)
    const call = rids.length
    const entry: LoggedCall = { call, inputIds: request.input_ids, sent: [] }
    if (!isScore) log.push(entry)
    const exchange = exchangeOf(socket, request, {
      tokens: isScore ? [] : (replies[call - 1] ?? []),
      attempt: Number(request.rid.slice(RID_LENGTH + 1) || 1),
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
    close: () => closedWith(sockets, server),
  }
}

/** Address where nothing listens: port 9 is never assigned by chance. */
export const CLOSED_PORT = 'http://127.0.0.1:9'

/** Starts a TLS server whose certificate clients refuse. */
export async function badTlsServer(): Promise<{ readonly baseUrl: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createTlsServer(expiredCertificate(), (socket) => socket.end())
  server.on('connection', (socket: Socket) => sockets.add(socket))
  server.on('tlsClientError', () => {})
  const port = await listening(server)
  return { baseUrl: `https://127.0.0.1:${port}`, close: () => closedWith(sockets, server) }
}

/**
 * Returns a port whose queue of connections is full and never emptied: the kernel drops every further SYN. The thread of the
 * server is blocked, so it never accepts a connection.
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
      // Pending `connect` events run before this check, because on a busy machine the timer alone would prove nothing.
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

function exchangeOf(socket: Socket, request: Asked, answering: Answering): FaultExchange {
  const { tokens, attempt, onSent } = answering
  const body = (from: number, to: number) => bodyOf(request, answering, from, to)
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
  const begin: FaultExchange['begin'] = async (count, headers = CHUNKED) => {
    await head('200 OK', { 'content-type': request.stream ? EVENTS : JSON_TYPE, ...headers })
    const text = request.stream ? serverSentEvent(body(0, count)) : '{"text": "half a bo'
    await write(headers === CHUNKED ? chunk(text) : text)
    if (request.stream) onSent(tokens.slice(0, count))
  }
  return {
    socket,
    attempt,
    isStream: request.stream,
    tokens,
    write,
    head,
    begin,
    body,
    sentAll: () => onSent(tokens),
    async reply(change = (whole) => whole) {
      const changed = (from: number, to: number): unknown =>
        to === tokens.length ? change(body(from, to)) : body(from, to)
      await head('200 OK', { 'content-type': request.stream ? EVENTS : JSON_TYPE, ...CHUNKED })
      const steps = request.stream
        ? stepsOf(tokens.length, request.sampling_params.stream_interval ?? 1)
        : [[0, tokens.length] as const]
      for (const [from, to] of steps) {
        // Tokens are logged before they are sent, so that a client that has received them finds them in the log.
        onSent(tokens.slice(from, to))
        await write(chunk(request.stream ? serverSentEvent(changed(from, to)) : JSON.stringify(changed(from, to))))
      }
      if (request.stream) await write(chunk('data: [DONE]\n\n'))
      await write('0\r\n\r\n')
    },
  }
}

/** Returns a body as SGLang 0.5.23 sends it with --incremental-streaming-output; a score adds the prompt's logprobs. */
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
/** Header of a body in chunks. */
export const CHUNKED: Readonly<Record<string, string>> = { 'transfer-encoding': 'chunked' }
/** Returns a text as one chunk of a chunked body. */
export const chunk = (text: string): string => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`

/** Calls `handle` for each request of a connection, one after the other. */
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

function closedWith(sockets: ReadonlySet<Socket>, server: Server): Promise<void> {
  for (const socket of sockets) socket.destroy()
  return new Promise((resolve) => server.close(() => resolve()))
}
