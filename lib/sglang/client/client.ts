/** The client of one SGLang server: all requests of the application go through it. */
import type * as z from 'zod'
import type { ReportedLoad } from '#lib/api/server-load.ts'
import type { ServerDescription } from '#lib/api/server-status.ts'
import { type ChatAnswer, type ChatRequest, chat } from '../reply/chat.ts'
import { streamReply } from '../reply/generate.ts'
import { jsonOf, parseReply } from '../reply/json-reply.ts'
import type { Chunk } from '../reply/reply.ts'
import { describeServer, INFO_MS, type Info, isReady, loadOfServer, modelOf } from '../server/server-facts.ts'
import { createIdentityWatch } from '../server/server-identity.ts'
import { type ServerParsers, serverParsers } from '../server/server-parsers.ts'
import { type ServerTokenizer, serverTokenizer } from '../server/server-tokenizer.ts'
import { type Breaker, createBreaker } from './breaker.ts'
import { type ClockAndRandom, systemClockAndRandom } from './clock-and-random.ts'
import { SglangError } from './errors.ts'
import type { GenerateRequest } from './request.ts'
import { createRetries, RETRY_POLICY, type RetryPolicy } from './retry-policy.ts'
import { createTransport, DEFAULT_LIMITS, type Transport, type TransportLimits } from './transport.ts'

/** The client of one SGLang server. */
export interface SglangClient extends ServerTokenizer, ServerParsers {
  /**
   * Yields the reply to one request chunk by chunk; a plain reply is one chunk. Until the first chunk a transient
   * failure is retried; after it every failure is thrown. A reader that stops closes the connection and with it the
   * generation. Throws SglangError, or the reason of the signal.
   */
  generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<Chunk>
  /**
   * Returns the whole reply to messages that the server renders and tokenizes itself. Retries like `generate`. Throws
   * SglangError, with the code CHAT_UNSUPPORTED if the server does not return its ids, or the reason of the signal.
   */
  chat(request: ChatRequest, signal: AbortSignal): Promise<ChatAnswer>
  /**
   * Describes the server and its model. Like all status calls it is sent once, even while the breaker blocks
   * generations.
   */
  describe(signal: AbortSignal): Promise<ServerDescription>
  /** Returns the load of the server, or undefined if the server does not report it. */
  load(signal: AbortSignal): Promise<ReportedLoad | undefined>
  isReady(signal: AbortSignal): Promise<boolean>
  close(): Promise<void>
}

/** The server of a client, and its limits. Omitted limits have their defaults. */
export interface ClientOptions {
  /** The address in the form that serverAddress returns. */
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly limits?: Partial<TransportLimits>
  readonly retry?: Partial<RetryPolicy>
  readonly clockAndRandom?: ClockAndRandom
}

/** Creates a client. It connects with its first call. */
export function createClient({
  baseUrl,
  apiKey,
  limits,
  retry,
  clockAndRandom = systemClockAndRandom,
}: ClientOptions): SglangClient {
  const all = { ...DEFAULT_LIMITS, ...limits }
  const transport = createTransport(baseUrl, apiKey, all)
  const breaker = createBreaker(clockAndRandom)
  const retries = createRetries({ ...RETRY_POLICY, ...retry }, clockAndRandom)
  const asking = reportingTransport(breaker, transport)
  const info: Info = async (path, schema, signal) =>
    parseReply(
      await jsonOf(await asking.send({ method: 'GET', path, signal, deadlineMs: INFO_MS }), apiKey),
      schema,
      path,
      apiKey,
    )
  const posted = async <T>(path: string, json: unknown, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> => {
    const reply = await asking.send({ method: 'POST', path, body: JSON.stringify(json), signal, deadlineMs: INFO_MS })
    return parseReply(await jsonOf(reply, apiKey), schema, path, apiKey)
  }
  const identity = createIdentityWatch(
    (signal) => modelOf(info, signal),
    () => transport.connections,
  )
  const server = { transport, apiKey, retries, breaker, identity, clockAndRandom, firstTokenMs: all.firstTokenMs }
  let lastKnown: ServerDescription | undefined
  return {
    generate: (request, signal) => streamReply(server, request, signal),
    chat: (request, signal) => chat(server, request, signal),
    async describe(signal) {
      const before = transport.connections
      lastKnown = await describeServer(info, signal, lastKnown)
      identity.saw(lastKnown, before)
      return lastKnown
    },
    load: (signal) => loadOfServer(info, signal),
    isReady: (signal) => isReady(asking, signal),
    ...serverTokenizer(posted),
    ...serverParsers(posted),
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
      if (error instanceof SglangError && error.status !== undefined) breaker.reached()
      throw error
    }
  },
})
