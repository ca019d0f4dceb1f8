/** The connection to one server: what the clients of all engines share. */
import type * as z from 'zod'
import { type Breaker, createBreaker } from './http/breaker.ts'
import { type ClockAndRandom, systemClockAndRandom } from './http/clock-and-random.ts'
import { EngineError } from './http/errors.ts'
import { jsonOf, parseReply } from './http/json-reply.ts'
import type { Server } from './http/retry.ts'
import { createRetries, RETRY_POLICY, type RetryPolicy } from './http/retry-policy.ts'
import { createTransport, DEFAULT_LIMITS, type Transport, type TransportLimits } from './http/transport.ts'

/** The server of a client, and its limits. Omitted limits have their defaults. */
export interface ClientOptions {
  /** The address in the form that serverAddress returns. */
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly limits?: Partial<TransportLimits>
  readonly retry?: Partial<RetryPolicy>
  readonly clockAndRandom?: ClockAndRandom
}

/** Time limit of a status call, in milliseconds. */
export const INFO_MS = 10_000

/** Fetches and checks the reply to a GET; throws EngineError. */
export type Info = <T>(path: string, schema: z.ZodType<T>, signal: AbortSignal) => Promise<T>

/** Posts JSON and checks the reply; throws EngineError. */
export type Ask = <T>(path: string, json: unknown, schema: z.ZodType<T>, signal: AbortSignal) => Promise<T>

/** The connection to one server. */
export interface Connection extends Omit<Server, 'identity'> {
  readonly info: Info
  readonly ask: Ask
  /** Sends a call that is no generation: its answer tells the breaker that the server is reached. */
  readonly send: Transport['send']
  close(): Promise<void>
}

/** Creates a connection. It connects with its first call. */
export function createConnection({
  baseUrl,
  apiKey,
  limits,
  retry,
  clockAndRandom = systemClockAndRandom,
}: ClientOptions): Connection {
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
      const reply = await send({ method: 'GET', path, signal, deadlineMs: INFO_MS })
      return parseReply(await jsonOf(reply, apiKey), schema, path, apiKey)
    },
    async ask(path, json, schema, signal) {
      const reply = await send({ method: 'POST', path, body: JSON.stringify(json), signal, deadlineMs: INFO_MS })
      return parseReply(await jsonOf(reply, apiKey), schema, path, apiKey)
    },
    close: () => transport.close(),
  }
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
