/** The connection to one server: what the clients of all engines share. */
import type * as z from 'zod'
import { type Breaker, createBreaker } from './http/breaker.ts'
import { type ClockAndRandom, systemClockAndRandom } from './http/clock-and-random.ts'
import { EngineError } from './http/errors.ts'
import { jsonOf, parseReply } from './http/json-reply.ts'
import type { Server } from './http/retry.ts'
import { createRetries, RETRY_POLICY, type RetryPolicy } from './http/retry-policy.ts'
import {
  createTransport,
  DEFAULT_LIMITS,
  type HttpReply,
  type Transport,
  type TransportLimits,
} from './http/transport.ts'

/** The server of a client, and its limits. Omitted limits have their defaults. */
export interface ClientOptions {
  /** The address in the form that serverAddress returns. */
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly limits?: Partial<TransportLimits>
  readonly retry?: Partial<RetryPolicy>
  readonly clockAndRandom?: ClockAndRandom
}

/** Fetches and checks the reply to a GET; throws EngineError. */
export type GetReply = <T>(path: string, schema: z.ZodType<T>, signal: AbortSignal) => Promise<T>

/** Posts JSON and checks the reply; throws EngineError. */
export type PostForReply = <T>(path: string, json: unknown, schema: z.ZodType<T>, signal: AbortSignal) => Promise<T>

/** A call of another program: its path, with the query, and its body. */
interface ForwardedCall {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** Omitted: the call has no body. */
  readonly body?: string | Uint8Array
  /** See GenerateRequest. Omitted: none. */
  readonly routingKey?: string
}

/** Sends a call of another program. */
export type ForwardCall = (
  call: ForwardedCall,
  signal: AbortSignal,
) => Promise<Pick<HttpReply, 'status' | 'contentType' | 'retryAfter' | 'chunks'>>

/** The connection to one inference server. */
export interface ServerConnection extends Omit<Server, 'identity'> {
  readonly info: GetReply
  readonly ask: PostForReply
  /** Sends a call that is no generation: its answer shows the breaker that the server is reached. */
  readonly send: Transport['send']
  /** Sends a call of another program unchanged, and returns its answer with any status, without our key. Throws EngineError. */
  readonly forward: ForwardCall
  close(): Promise<void>
}

/** Creates a connection. It connects with its first call. */
export function createConnection({
  baseUrl,
  apiKey,
  limits,
  retry,
  clockAndRandom = systemClockAndRandom,
}: ClientOptions): ServerConnection {
  const all = { ...DEFAULT_LIMITS, ...limits }
  const transport = createTransport(baseUrl, apiKey, all)
  const breaker = createBreaker(clockAndRandom)
  const { send } = reportingTransport(breaker, transport)
  return {
    transport,
    apiKey,
    retries: createRetries({ ...RETRY_POLICY, ...retry }, clockAndRandom),
    breaker,
    clockAndRandom,
    firstTokenMs: all.firstTokenMs,
    send,
    async info(path, schema, signal) {
      const reply = await send({ method: 'GET', path, signal, isStatus: true })
      return parseReply(await jsonOf(reply, apiKey), schema, path, apiKey)
    },
    async ask(path, json, schema, signal) {
      const reply = await send({ method: 'POST', path, body: JSON.stringify(json), signal, isStatus: true })
      return parseReply(await jsonOf(reply, apiKey), schema, path, apiKey)
    },
    async forward(call, signal) {
      const { status, contentType, retryAfter, chunks } = await send({ ...call, signal, acceptsErrors: true })
      return { status, contentType, retryAfter, chunks: apiKey === undefined ? chunks : withoutSecret(chunks, apiKey) }
    },
    close: () => transport.close(),
  }
}

/** Yields the parts of a body with `[key]` in place of each occurrence of a secret, also of one that two parts share. */
async function* withoutSecret(chunks: AsyncIterable<Uint8Array>, secret: string): AsyncGenerator<Uint8Array> {
  let rest = ''
  for await (const chunk of chunks) {
    // Latin-1 maps each byte to one character and back.
    const text = (rest + Buffer.from(chunk).toString('latin1')).replaceAll(secret, '[key]')
    const settled = Math.max(0, text.length - secret.length + 1)
    rest = text.slice(settled)
    if (settled > 0) yield Buffer.from(text.slice(0, settled), 'latin1')
  }
  if (rest !== '') yield Buffer.from(rest, 'latin1')
}

/** Reports every answer to the breaker. */
const reportingTransport = (breaker: Breaker, { send }: Transport): Pick<Transport, 'send'> => ({
  async send(call) {
    try {
      const reply = await send(call)
      breaker.reached()
      return reply
    } catch (error) {
      if (error instanceof EngineError && error.status !== undefined) breaker.reached()
      throw error
    }
  },
})
