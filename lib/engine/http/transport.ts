/**
 * HTTP to one server over undici: addresses are checked, redirects are refused, every wait has a limit, and every
 * failure has a code.
 */
import { Agent, type Dispatcher } from 'undici'
import { checkedConnector } from './checked-connector.ts'
import { EngineError, type EngineErrorCode, errorFromStatus, OUT_OF_FILES } from './errors.ts'
import { exchange, tooLarge } from './exchange.ts'

/** The limits of calls to one server, in milliseconds and bytes. */
export interface TransportLimits {
  readonly connectMs: number
  /** Milliseconds to the first byte, also of a stream: the server reads a long prompt before it. */
  readonly firstByteMs: number
  readonly idleMs: number
  readonly deadlineMs: number
  /** Milliseconds to the end of the answer to a status call. */
  readonly statusMs: number
  /**
   * Milliseconds from the headers of a stream to its first token: other data may keep the connection open without end.
   */
  readonly firstTokenMs: number
  /** The largest size of a stream, all events together. */
  readonly bodyBytes: number
  /**
   * The largest size of a reply that is kept in memory as a whole. JavaScript engines cannot make a text of more than
   * 512 MiB.
   */
  readonly wholeBytes: number
}

/** The limits unless others are given. */
export const DEFAULT_LIMITS: TransportLimits = {
  connectMs: 5_000,
  firstByteMs: 900_000,
  idleMs: 120_000,
  deadlineMs: 3_600_000,
  statusMs: 10_000,
  firstTokenMs: 900_000,
  bodyBytes: 1 << 30,
  wholeBytes: 256 << 20,
}

/** Returns limits for the body of an error. Its status has most of the information, so its text gets less time than a reply. */
const ofAnError = ({ firstByteMs, idleMs }: TransportLimits) => ({
  firstByteMs: Math.min(firstByteMs, 2_000),
  idleMs: Math.min(idleMs, 2_000),
  bodyBytes: 1 << 20,
  wholeBytes: 1 << 20,
})

/** HTTP to one server. */
export interface Transport {
  /** Returns the body of a successful answer as it arrives. Throws EngineError for any other answer. */
  send(call: Call): Promise<HttpReply>
  /** The number of connections opened so far. */
  readonly connections: number
  close(): Promise<void>
}

interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The JSON body. Omitted: the call has no body. */
  readonly body?: string | Uint8Array
  readonly signal: AbortSignal
  /** True if the call asks for the status of the server, which must be quick. */
  readonly isStatus?: true
  /** The largest size in bytes of the whole reply or of one event of it, if that is below the transport's. Omitted: the transport's. */
  readonly replyBytes?: number | undefined
  /** See GenerateRequest. Omitted: none. */
  readonly routingKey?: string
  /** True if an answer with any status is returned, and not only a successful one. */
  readonly acceptsErrors?: boolean
  /** True if the call is sent on a connection of its own, which is closed afterwards. */
  readonly isUnpooled?: boolean
}

/** An answer whose body is still arriving. */
export interface HttpReply {
  readonly status: number
  readonly contentType: string
  /** The header Retry-After; undefined if the server sent none. */
  readonly retryAfter?: string | undefined
  /** The largest size in bytes that the whole body, or one event of it, may have in memory. */
  readonly wholeBytes: number
  /** The parts of the body. They end early only by throwing EngineError. */
  readonly chunks: AsyncIterable<Uint8Array>
  bytes(): Promise<Buffer>
  text(): Promise<string>
}

/** Creates the transport to an address that serverAddress returned. */
export function createTransport(baseUrl: string, apiKey: string | undefined, limits: TransportLimits): Transport {
  let connections = 0
  const connect = checkedConnector(limits.connectMs)
  const agent = (pipelining: number) =>
    new Agent({
      connect(options, callback) {
        connections++
        connect(options, callback)
      },
      headersTimeout: limits.firstByteMs,
      // Idle times are watched below: before the first chunk of a stream the wait is longer than after it.
      bodyTimeout: 0,
      maxHeaderSize: 64 * 1024,
      pipelining,
    })
  const pooled = agent(1)
  // Without pipelining undici keeps no connection alive.
  const unpooled = agent(0)
  const { origin, pathname } = new URL(baseUrl)
  const address = { origin, folder: pathname.replace(/\/+$/, '') }
  const sendOn = (call: Call, dispatcher: Dispatcher) => send(call, address, apiKey, limits, dispatcher)
  return {
    send: (call) =>
      call.isUnpooled
        ? sendOn(call, unpooled)
        : sendOn(call, pooled).catch((error) => {
            if (call.method !== 'GET' || !isStaleConnection(error)) throw error
            return sendOn(call, unpooled)
          }),
    get connections() {
      return connections
    },
    async close() {
      await Promise.all([pooled.destroy(), unpooled.destroy()])
    },
  }
}

/**
 * Returns whether the server closed an idle connection just as the request was sent; uvicorn does so after 5 s. The
 * connection has brought replies before, and no byte of this one, so the request was not read. It may be sent again at
 * once on a new connection, since other connections of the pool may be closed too.
 */
export const isStaleConnection = (error: unknown): boolean =>
  error instanceof EngineError &&
  error.code === 'CONNECTION_RESET' &&
  causes(error).some(
    (cause) => ((cause as { readonly socket?: { readonly bytesRead?: number } }).socket?.bytesRead ?? 0) > 0,
  )

async function send(
  call: Call,
  { origin, folder }: { readonly origin: string; readonly folder: string },
  apiKey: string | undefined,
  limits: TransportLimits,
  dispatcher: Dispatcher,
): Promise<HttpReply> {
  const { method, path, body, signal } = call
  signal.throwIfAborted()
  const deadlineMs = call.isStatus ? limits.statusMs : limits.deadlineMs
  const expire = () =>
    answer.fail(
      call.isStatus
        ? new EngineError('HEADERS_TIMEOUT', `the server did not answer within ${deadlineMs / 1000} s`)
        : new EngineError('DEADLINE', `the call took longer than ${deadlineMs / 1000} s`),
    )
  // After this process was busy for long, timers run before what has arrived meanwhile is read.
  const deadline = setTimeout(() => setImmediate(expire), deadlineMs).unref()
  const leave = () => answer.fail(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  const answer = exchange(
    dispatcher,
    {
      origin,
      path: `${folder}${path}`,
      method,
      headers: {
        accept: 'application/json, text/event-stream',
        'accept-encoding': 'identity',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        ...(call.routingKey !== undefined && { 'x-smg-routing-key': call.routingKey }),
      },
      body: body ?? null,
    },
    () => {
      clearTimeout(deadline)
      signal.removeEventListener('abort', leave)
    },
  )
  const named = (error: unknown): unknown => (signal.aborted ? signal.reason : nameFailure(error))
  const { status, headers } = await answer.head.catch((error) => {
    throw named(error)
  })
  const header = (name: string) => {
    const value = headers[name]
    return typeof value === 'string' ? value : value?.[0]
  }
  const isError = (status < 200 || status >= 300) && call.acceptsErrors !== true
  const { firstByteMs, idleMs, bodyBytes, wholeBytes: most } = isError ? ofAnError(limits) : limits
  const wholeBytes = Math.min(bodyBytes, most, call.replyBytes ?? most)
  const parts = answer.body({ firstByteMs, idleMs, bytes: bodyBytes, wholeBytes })
  const reading = async <T>(read: () => Promise<T>): Promise<T> => {
    try {
      return await read()
    } catch (error) {
      throw duringBody(named(error))
    }
  }
  const bytes = async () => {
    const announced = Number(header('content-length') ?? 0)
    if (announced > wholeBytes) answer.fail(tooLarge(wholeBytes))
    const [first = EMPTY, ...others] = await reading(parts.rest)
    return others.length === 0
      ? Buffer.from(first.buffer, first.byteOffset, first.byteLength)
      : Buffer.concat([first, ...others])
  }
  const text = async () => (await bytes()).toString('utf8')
  const encoding = header('content-encoding')
  const isEncoded = encoding !== undefined && encoding !== 'identity'
  if (isError) {
    const words = isEncoded ? '' : await text().catch(() => '')
    const error = errorFromStatus(status, words, { retryAfter: header('retry-after') }, apiKey)
    answer.fail(error)
    throw error
  }
  if (isEncoded) {
    const error = new EngineError(
      'BAD_ENCODING',
      `the server sent ${encoding} data although the request accepts none`,
      {
        status,
      },
    )
    answer.fail(error)
    throw error
  }
  async function* chunks(): AsyncGenerator<Uint8Array> {
    try {
      for (let part = await reading(parts.next); part; part = await reading(parts.next)) yield part
    } finally {
      answer.fail(new Error('the client stopped reading'))
    }
  }
  return {
    status,
    contentType: header('content-type') ?? '',
    retryAfter: header('retry-after'),
    wholeBytes,
    chunks: { [Symbol.asyncIterator]: chunks },
    bytes,
    text,
  }
}

const EMPTY = new Uint8Array(0)

/** After the headers, a closed connection means that the reply is cut. */
function duringBody(error: unknown): unknown {
  const isCut = error instanceof EngineError && error.code === 'CONNECTION_RESET'
  return isCut
    ? new EngineError('UPSTREAM_TRUNCATED', 'the connection broke before the response was complete', { cause: error })
    : error
}

/** Gives a connection failure its code; an error that has one already keeps it. */
function nameFailure(error: unknown): unknown {
  if (error instanceof EngineError) return error
  const chain = causes(error)
  const known = chain.find((cause) => cause instanceof EngineError)
  if (known) return known
  const code = chain
    .map(codeOf)
    .find((name) => name !== undefined && (Object.hasOwn(CODES, name) || name.startsWith('HPE_')))
  const last = chain.at(-1)
  if (code === undefined)
    return new EngineError(
      'CONNECTION_RESET',
      `the connection failed: ${last instanceof Error ? last.message : String(error)}`,
      { cause: error },
    )
  const [name, message] = CODES[code] ?? ['BAD_HTTP', 'the response is not HTTP']
  return new EngineError(name, `${message} (${code})`, { cause: error })
}

const CODES: Readonly<Record<string, readonly [EngineErrorCode, string]>> = {
  ECONNREFUSED: ['CONNECT_REFUSED', 'nothing listens at the server’s address'],
  ENOTFOUND: ['DNS_FAILED', 'the server’s host name is not known'],
  EAI_AGAIN: ['DNS_FAILED', 'the server’s host name cannot be looked up'],
  UND_ERR_CONNECT_TIMEOUT: ['CONNECT_TIMEOUT', 'the server’s host does not answer'],
  ETIMEDOUT: ['CONNECT_TIMEOUT', 'the server’s host does not answer'],
  EHOSTUNREACH: ['CONNECT_TIMEOUT', 'the server’s host cannot be reached'],
  ENETUNREACH: ['CONNECT_TIMEOUT', 'the server’s network cannot be reached'],
  EMFILE: ['TOO_MANY_FILES', OUT_OF_FILES.message],
  ENFILE: ['TOO_MANY_FILES', OUT_OF_FILES.message],
  UND_ERR_HEADERS_TIMEOUT: ['HEADERS_TIMEOUT', 'the server accepted the request but sent nothing'],
  UND_ERR_BODY_TIMEOUT: ['BODY_TIMEOUT', 'the response stopped arriving'],
  // undici's parser asserts some properties of a response, such as a status of at least 100.
  ERR_ASSERTION: ['BAD_HTTP', 'the response is not HTTP'],
  UND_ERR_HEADERS_OVERFLOW: ['BAD_HTTP', 'the response’s headers are too large'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['UPSTREAM_TRUNCATED', 'the response is shorter than its Content-Length'],
  UND_ERR_SOCKET: ['CONNECTION_RESET', 'the server closed the connection'],
  ECONNRESET: ['CONNECTION_RESET', 'the server closed the connection'],
  EPIPE: ['CONNECTION_RESET', 'the server closed the connection'],
  CERT_HAS_EXPIRED: ['TLS_FAILED', 'the server’s certificate has expired'],
  DEPTH_ZERO_SELF_SIGNED_CERT: ['TLS_FAILED', 'the server’s certificate is self-signed'],
  SELF_SIGNED_CERT_IN_CHAIN: ['TLS_FAILED', 'the server’s certificate is self-signed'],
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ['TLS_FAILED', 'the server’s certificate cannot be verified'],
  ERR_TLS_CERT_ALTNAME_INVALID: ['TLS_FAILED', 'the server’s certificate is for another name'],
  ERR_SSL_WRONG_VERSION_NUMBER: ['TLS_FAILED', 'the server does not speak TLS'],
  ERR_SSL_PACKET_LENGTH_TOO_LONG: ['TLS_FAILED', 'the server does not speak TLS'],
}

function causes(error: unknown): unknown[] {
  const chain: unknown[] = []
  for (
    let cause = error;
    cause !== undefined && cause !== null && chain.length < 8;
    cause = (cause as { cause?: unknown }).cause
  ) {
    chain.push(cause)
    if (cause instanceof AggregateError) chain.push(...cause.errors)
  }
  return chain
}

function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  if ('code' in error && typeof error.code === 'string') return error.code
  // undici's parser has a code only for some violations.
  return 'name' in error && error.name === 'HTTPParserError' ? 'HPE_OTHER' : undefined
}
