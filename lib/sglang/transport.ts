/** HTTP to one server over undici: checked addresses, no redirects, every wait has an end, every failure a name. */
import { Agent, buildConnector, type Dispatcher, request as undiciRequest } from 'undici'
import { checkedLookup, literal, refusedAddress } from './address.ts'
import { errorFromStatus, SglangError, type SglangErrorCode } from './errors.ts'

export interface TransportLimits {
  readonly connectMs: number
  /** Also the wait for the first byte of a stream: a long prompt is read before it. */
  readonly firstByteMs: number
  readonly idleMs: number
  readonly deadlineMs: number
  readonly bodyBytes: number
}

export const DEFAULT_LIMITS: TransportLimits = {
  connectMs: 5_000,
  firstByteMs: 900_000,
  idleMs: 120_000,
  deadlineMs: 3_600_000,
  bodyBytes: 1 << 30,
}

/** An error's status says the most: its words are not waited for as long as a reply is. */
const OF_AN_ERROR = { firstByteMs: 2_000, idleMs: 2_000, bodyBytes: 1 << 20 } as const

export interface Transport {
  /** The body of a successful answer, as it arrives. Throws SglangError for anything else. */
  send(call: Call): Promise<Reply>
  /** Connections opened so far. */
  readonly connections: number
  close(): Promise<void>
}

interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly json?: unknown
  readonly signal: AbortSignal
  /** Shorter than the transport's, for calls that must be quick. */
  readonly deadlineMs?: number
}

export interface Reply {
  readonly contentType: string
  /** Ends early only by throwing SglangError. */
  readonly chunks: AsyncIterable<Uint8Array>
  text(): Promise<string>
}

/** `baseUrl` has been through serverAddress. */
export function createTransport(baseUrl: string, apiKey: string | undefined, limits: TransportLimits): Transport {
  let connections = 0
  const connect = checkedConnector(limits.connectMs)
  const dispatcher = new Agent({
    connect(options, callback) {
      connections++
      connect(options, callback)
    },
    headersTimeout: limits.firstByteMs,
    // Idle times are watched below: before the first chunk of a stream the wait is longer than after it.
    bodyTimeout: 0,
    maxHeaderSize: 64 * 1024,
    pipelining: 1,
  })
  return {
    send: (call) => send(call, baseUrl, apiKey, limits, dispatcher),
    get connections() {
      return connections
    },
    close: () => dispatcher.destroy(),
  }
}

async function send(
  call: Call,
  baseUrl: string,
  apiKey: string | undefined,
  limits: TransportLimits,
  dispatcher: Dispatcher,
): Promise<Reply> {
  const deadlineMs = call.deadlineMs ?? limits.deadlineMs
  const deadline = AbortSignal.timeout(deadlineMs)
  const idle = new AbortController()
  const signal = AbortSignal.any([call.signal, deadline, idle.signal])
  const late =
    call.deadlineMs === undefined
      ? new SglangError('DEADLINE', `the call took longer than ${deadlineMs / 1000} s`)
      : new SglangError('HEADERS_TIMEOUT', `the server did not answer within ${deadlineMs / 1000} s`)
  const named = (error: unknown) => nameFailure(error, { cancelled: call.signal, deadline, late, idle: idle.signal })
  let response: Dispatcher.ResponseData
  try {
    response = await undiciRequest(`${baseUrl}${call.path}`, {
      method: call.method,
      dispatcher,
      signal,
      headers: {
        accept: 'application/json, text/event-stream',
        'accept-encoding': 'identity',
        ...(call.json !== undefined && { 'content-type': 'application/json' }),
        ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      },
      body: call.json === undefined ? null : JSON.stringify(call.json),
    })
  } catch (error) {
    throw named(error)
  }
  const { statusCode, headers, body } = response
  const header = (name: string) => [headers[name] ?? []].flat()[0]
  const isError = statusCode < 200 || statusCode >= 300
  const chunks = watched(body, idle, isError ? { ...limits, ...OF_AN_ERROR } : limits, named)
  const text = () => joined(chunks)
  if (isError) {
    const said = await text().catch(() => '')
    throw errorFromStatus(statusCode, said, { retryAfter: header('retry-after') }, apiKey)
  }
  const encoding = header('content-encoding')
  if (encoding !== undefined && encoding !== 'identity') {
    body.on('error', () => {}).destroy()
    throw new SglangError('BAD_ENCODING', `the server sent ${encoding} data though none was asked for`, {
      status: statusCode,
    })
  }
  return { contentType: header('content-type') ?? '', chunks, text }
}

async function* watched(
  body: AsyncIterable<Uint8Array>,
  idle: AbortController,
  limits: TransportLimits,
  named: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  let received = 0
  const wait = (ms: number) => setTimeout(() => idle.abort(), ms)
  let timer = wait(limits.firstByteMs)
  try {
    for await (const chunk of body) {
      clearTimeout(timer)
      received += chunk.byteLength
      if (received > limits.bodyBytes)
        throw new SglangError('TOO_LARGE', `the reply is larger than ${limits.bodyBytes} bytes`)
      yield chunk
      timer = wait(limits.idleMs)
    }
  } catch (error) {
    throw duringBody(named(error))
  } finally {
    clearTimeout(timer)
  }
}

/** Once the headers are there, a closed connection means that the reply is cut. */
function duringBody(error: unknown): unknown {
  const isCut = error instanceof SglangError && error.code === 'CONNECTION_RESET'
  return isCut
    ? new SglangError('UPSTREAM_TRUNCATED', 'the connection broke before the reply was complete', { cause: error })
    : error
}

async function joined(chunks: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts).toString('utf8')
}

/** Literals are checked here, names when they are resolved: lookup is never called for a literal. */
function checkedConnector(timeout: number): buildConnector.connector {
  const connect = buildConnector({ timeout, lookup: checkedLookup })
  return (options, callback) => {
    const ip = literal(options.hostname)
    const why = ip === undefined ? undefined : refusedAddress(ip)
    if (why === undefined) connect(options, callback)
    else callback(new SglangError('ADDRESS_REFUSED', why), null)
  }
}

interface Circumstances {
  readonly cancelled: AbortSignal
  readonly deadline: AbortSignal
  /** What it means that the deadline has passed. */
  readonly late: SglangError
  readonly idle: AbortSignal
}

function nameFailure(error: unknown, { cancelled, deadline, late, idle }: Circumstances): unknown {
  if (error instanceof SglangError) return error
  if (cancelled.aborted) return cancelled.reason
  if (deadline.aborted) return late
  if (idle.aborted) return new SglangError('BODY_TIMEOUT', 'the reply stopped arriving', { cause: error })
  const chain = causes(error)
  const known = chain.find((cause) => cause instanceof SglangError)
  if (known) return known
  const code = chain
    .map(codeOf)
    .find((name) => name !== undefined && (Object.hasOwn(CODES, name) || name.startsWith('HPE_')))
  const last = chain.at(-1)
  if (code === undefined)
    return new SglangError(
      'CONNECTION_RESET',
      `the connection failed: ${last instanceof Error ? last.message : String(error)}`,
      { cause: error },
    )
  const [name, message] = CODES[code] ?? ['BAD_HTTP', 'the reply is not HTTP']
  return new SglangError(name, `${message} (${code})`, { cause: error })
}

const CODES: Readonly<Record<string, readonly [SglangErrorCode, string]>> = {
  ECONNREFUSED: ['CONNECT_REFUSED', 'nothing listens at the server’s address'],
  ENOTFOUND: ['DNS_FAILED', 'the server’s host name is not known'],
  EAI_AGAIN: ['DNS_FAILED', 'the server’s host name cannot be looked up'],
  UND_ERR_CONNECT_TIMEOUT: ['CONNECT_TIMEOUT', 'the server’s host does not answer'],
  ETIMEDOUT: ['CONNECT_TIMEOUT', 'the server’s host does not answer'],
  EHOSTUNREACH: ['CONNECT_TIMEOUT', 'the server’s host cannot be reached'],
  ENETUNREACH: ['CONNECT_TIMEOUT', 'the server’s network cannot be reached'],
  UND_ERR_HEADERS_TIMEOUT: ['HEADERS_TIMEOUT', 'the server accepted the request and did not answer'],
  UND_ERR_BODY_TIMEOUT: ['BODY_TIMEOUT', 'the reply stopped arriving'],
  UND_ERR_HEADERS_OVERFLOW: ['BAD_HTTP', 'the reply’s headers are too large'],
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: ['UPSTREAM_TRUNCATED', 'the reply is shorter than announced'],
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
  // undici's parser has a code for some violations only.
  return 'name' in error && error.name === 'HTTPParserError' ? 'HPE_OTHER' : undefined
}
