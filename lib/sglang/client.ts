/** One SGLang server: what the rest of the application may ask of it. */
import { createParser } from 'eventsource-parser'
import type * as z from 'zod'
import { schemaViolation, violationText } from '#lib/core/schema-violation.ts'
import type { ServerDescription, ToldLoad } from '#lib/core/server-status.ts'
import { errorFromEvent, foreignText, SglangError } from './errors.ts'
import { type Chunk, replyReader } from './reply.ts'
import { type GenerateRequest, generateBody } from './request.ts'
import { type GenerateReply, generateReply, streamError, tokenizeReply } from './schema.ts'
import { describeServer, INFO_MS, isReady, loadOfServer } from './server-facts.ts'
import { createTransport, DEFAULT_LIMITS, type Reply, type Transport, type TransportLimits } from './transport.ts'

export interface SglangClient {
  /**
   * The reply to one request, chunk by chunk; a plain reply is one chunk. Until the first chunk a failure that another
   * try may mend is tried again; after it every failure is thrown. Stopping to read closes the connection, and with it
   * the generation. Throws SglangError, or the reason of the signal.
   */
  generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<Chunk>
  /** What the server is and serves. */
  describe(signal: AbortSignal): Promise<ServerDescription>
  /** What it is busy with; undefined where it does not tell. */
  load(signal: AbortSignal): Promise<ToldLoad | undefined>
  isReady(signal: AbortSignal): Promise<boolean>
  abort(rid: string, signal: AbortSignal): Promise<void>
  /** The server's own tokenizer; throws UPSTREAM_REJECTED on versions that have none. */
  tokenize(text: string, signal: AbortSignal): Promise<readonly number[]>
  close(): Promise<void>
}

export interface ClientOptions {
  /** As serverAddress gives it. */
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly limits?: Partial<TransportLimits>
  readonly retry?: RetryPolicy
}

export interface RetryPolicy {
  readonly attempts: number
  /** Before the nth repetition, n from 1. */
  readonly delayMs: (repetition: number) => number
}

/** 0.5 s, 1 s, 2 s, each spread by a quarter either way, so that clients do not come back together. */
const DEFAULT_RETRY: RetryPolicy = {
  attempts: 4,
  delayMs: (repetition) => 500 * 2 ** (repetition - 1) * (0.75 + Math.random() / 2),
}

const MAX_RETRY_AFTER_MS = 30_000
const LONGEST_EVENT = 64 << 20
/** Of a reply that cannot be read, this many characters are shown. */
const EXCERPT = 200

export function createClient({ baseUrl, apiKey, limits, retry = DEFAULT_RETRY }: ClientOptions): SglangClient {
  const transport = createTransport(baseUrl, apiKey, { ...DEFAULT_LIMITS, ...limits })
  const info = async <T>(path: string, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> =>
    parsed(
      await jsonOf(await transport.send({ method: 'GET', path, signal, deadlineMs: INFO_MS }), apiKey),
      schema,
      path,
      apiKey,
    )
  return {
    generate: (request, signal) => generate(transport, request, signal, retry, apiKey),
    describe: (signal) => describeServer(info, signal),
    load: (signal) => loadOfServer(info, signal),
    isReady: (signal) => isReady(transport, signal),
    async abort(rid, signal) {
      const reply = await transport.send({
        method: 'POST',
        path: '/abort_request',
        json: { rid },
        signal,
        deadlineMs: INFO_MS,
      })
      await reply.text()
    },
    async tokenize(text, signal) {
      const reply = await transport.send({ method: 'POST', path: '/tokenize', json: { prompt: text }, signal })
      return parsed(await jsonOf(reply, apiKey), tokenizeReply, '/tokenize', apiKey).tokens
    },
    close: () => transport.close(),
  }
}

async function* generate(
  transport: Transport,
  request: GenerateRequest,
  signal: AbortSignal,
  retry: RetryPolicy,
  apiKey: string | undefined,
): AsyncGenerator<Chunk> {
  const json = generateBody(request)
  for (let attempt = 1; ; attempt++) {
    // The server may still hold the request that failed, and refuses a second one of the same id.
    const rid = attempt === 1 ? request.rid : `${request.rid}-${attempt}`
    let started = false
    try {
      const reply = await transport.send({ method: 'POST', path: '/generate', json: { ...json, rid }, signal })
      for await (const chunk of chunksOf(reply, request, apiKey)) {
        started = true
        yield attempt === 1 ? chunk : { ...chunk, rid }
      }
      return
    } catch (error) {
      if (started || attempt >= retry.attempts || !mayHelp(error)) throw error
      await pause(Math.min(MAX_RETRY_AFTER_MS, error.retryAfterMs ?? retry.delayMs(attempt)), signal)
    }
  }
}

/** Nothing was read or written yet, and the cause may pass. */
function mayHelp(error: unknown): error is SglangError {
  return (
    error instanceof SglangError &&
    ['CONNECT_REFUSED', 'CONNECT_TIMEOUT', 'CONNECTION_RESET', 'UPSTREAM_BUSY', 'UPSTREAM_ERROR'].includes(error.code)
  )
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

async function* chunksOf(reply: Reply, request: GenerateRequest, apiKey: string | undefined): AsyncGenerator<Chunk> {
  const reader = replyReader(request, (text) => foreignText(text, apiKey))
  if (!request.stream) {
    yield reader.read(parsed(await jsonOf(reply, apiKey), generateReply, '/generate', apiKey))
    return
  }
  let started = false
  let ended = false
  for await (const value of events(reply, apiKey)) {
    const refused = started ? undefined : refusalIn(value, apiKey)
    if (refused) throw refused
    const chunk = reader.read(value)
    started = true
    ended ||= chunk.end !== undefined
    yield chunk
  }
  if (!ended) throw new SglangError('UPSTREAM_TRUNCATED', 'the stream ended before the reply did')
}

/** A stream that was refused before its first token has status 200; its one event says which status was meant. */
function refusalIn({ meta_info: { finish_reason: reason } }: GenerateReply, apiKey: string | undefined) {
  return reason?.type === 'abort' && typeof reason.status_code === 'number'
    ? errorFromEvent(reason.message ?? 'the request was aborted', reason.status_code, apiKey)
    : undefined
}

/** The events of a stream, up to [DONE]. */
async function* events(reply: Reply, apiKey: string | undefined): AsyncGenerator<GenerateReply> {
  if (!reply.contentType.startsWith('text/event-stream'))
    throw notSglang(reply.contentType, await reply.text(), 'a stream of events', apiKey)
  const decoder = new TextDecoder()
  const queue: string[] = []
  const parser = createParser({ onEvent: ({ data }) => queue.push(data), maxBufferSize: LONGEST_EVENT })
  for await (const bytes of reply.chunks) {
    try {
      parser.feed(decoder.decode(bytes, { stream: true }))
    } catch (error) {
      throw new SglangError('TOO_LARGE', `an event of the reply is larger than ${LONGEST_EVENT} characters`, {
        cause: error,
      })
    }
    for (const data of queue.splice(0)) {
      if (data === '[DONE]') return
      const value = jsonValue(data, apiKey)
      const error = streamError.safeParse(value)
      if (error.success) throw errorFromEvent(error.data.error.message, error.data.error.code ?? undefined, apiKey)
      yield parsed(value, generateReply, '/generate', apiKey)
    }
  }
}

async function jsonOf(reply: Reply, apiKey: string | undefined): Promise<unknown> {
  const text = await reply.text()
  if (!reply.contentType.startsWith('application/json')) throw notSglang(reply.contentType, text, 'JSON', apiKey)
  return jsonValue(text, apiKey)
}

function jsonValue(text: string, apiKey: string | undefined): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SglangError('BAD_JSON', `the reply is not valid JSON: ${foreignText(text, apiKey, EXCERPT)}`, {
      cause: error,
    })
  }
}

function parsed<T>(value: unknown, schema: z.ZodType<T>, path: string, apiKey: string | undefined): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const violation = schemaViolation(result.error, value)
  // What was found is told clipped, so a key in it may be told in part: then it is not told at all.
  const holdsKey = apiKey !== undefined && JSON.stringify(value).includes(apiKey)
  const told = violationText(holdsKey ? { ...violation, found: 'something else' } : violation)
  throw new SglangError('BAD_SHAPE', `the reply to ${path} is not SGLang’s: ${told}`)
}

function notSglang(contentType: string, body: string, expected: string, apiKey: string | undefined): SglangError {
  return new SglangError(
    'NOT_SGLANG',
    `the answer is ${foreignText(contentType, apiKey) || 'of no type'}, not ${expected}: ${foreignText(body, apiKey, EXCERPT)}`,
  )
}
